// A situation in which a sign-in is tried out: an address, a browser, a risk, a level of assurance. The page's address holds it.
import { useMay } from '../../api/session.ts';
import { Toggle } from '../../ui/choices.tsx';
import { NumberField, Select, TextField } from '../../ui/fields.tsx';
import type { FilterChanges, Filters } from '../../ui/filters.ts';

const bands = [
  { id: 'low', label: 'Low' },
  { id: 'medium', label: 'Medium' },
  { id: 'high', label: 'High' },
] as const;
const HIGHEST_LEVEL = 9;

export interface Situation {
  ipAddress: string;
  riskBand: (typeof bands)[number]['id'] | null;
  /** 0: any */
  level: number;
  isNewBrowser: boolean;
}

const bandOf = (text: string | null): Situation['riskBand'] => bands.find(({ id }) => id === text)?.id ?? null;

export const situationOf = ({ get }: Pick<Filters, 'get'>): Situation => ({
  ipAddress: get('ip'),
  riskBand: bandOf(get('risk')),
  level: Number(get('level')) || 0,
  isNewBrowser: get('browser') === 'new',
});

export const situationFilters = ({ ipAddress, riskBand, level, isNewBrowser }: Situation): FilterChanges => ({
  ip: ipAddress.trim(),
  risk: riskBand,
  level: level > 0 ? String(level) : null,
  browser: isNewBrowser ? 'new' : null,
});

const given = ({ ipAddress, riskBand, level }: Situation) => ({
  ...(ipAddress.trim() !== '' && { ipAddress: ipAddress.trim() }),
  ...(riskBand !== null && { riskBand }),
  ...(level > 0 && { level }),
});
/** The query of `GET …/sign-in-simulation`. */
export const situationQuery = (situation: Situation) => ({
  ...given(situation),
  ...(situation.isNewBrowser && { deviceKnown: 'false' }),
});
/** The body of `POST …/sign-in-simulation`. */
export const situationBody = (situation: Situation) => ({
  ...given(situation),
  ...(situation.isNewBrowser && { deviceKnown: false }),
});

/** The faults that these fields show. */
export const isOfSituation = (path: string): boolean => /^(body\.|query\.)?(ipAddress|level)$/.test(path);

export function SituationFields({
  realm,
  value,
  onChange,
  faults,
}: {
  realm: string;
  value: Situation;
  onChange: (changes: Partial<Situation>) => void;
  faults: ReadonlyMap<string, string>;
}) {
  const may = useMay();
  // a score tells of the user's former sign-ins
  const scores = may(realm, 'events:read') || may.partly(realm, 'sessions:read');
  return (
    <>
      <TextField
        label="IP address"
        help="Empty: one that is not unusual for the user."
        value={value.ipAddress}
        onChange={(ipAddress) => onChange({ ipAddress })}
        fault={faults.get('ipAddress')}
        mono
      />
      <Select
        label="Risk"
        none={scores ? 'As the realm’s policy scores it' : 'None'}
        options={bands}
        value={value.riskBand}
        onChange={(band) => onChange({ riskBand: bandOf(band) })}
      />
      <NumberField
        label="Level of assurance"
        help="What the application asks for; 0: any."
        value={value.level}
        least={0}
        most={HIGHEST_LEVEL}
        onChange={(level) => onChange({ level: level ?? 0 })}
        fault={faults.get('level')}
      />
      <Toggle
        label="A browser that the user has not signed in with"
        isSelected={value.isNewBrowser}
        onChange={(isNewBrowser) => onChange({ isNewBrowser })}
      />
    </>
  );
}
