// The filters of the audit log. All of them are in the address.
import { useRead } from '../../api/queries.ts';
import { listEventTypes } from '../../generated/routes.ts';
import { TimeField } from '../../kinds/value-inputs.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Choose } from '../../ui/choose.tsx';
import { Select } from '../../ui/fields.tsx';
import type { Filters } from '../../ui/filters.ts';
import { Find } from '../../ui/find.tsx';
import { outcomes, periods, textFilters } from './query.ts';

const OWN_PERIOD = 'own';
const outcomeWords = { success: 'Succeeded', failure: 'Failed', denied: 'Denied' } as const;

export function FilterBar({ realm, filters }: { realm: string; filters: Filters }) {
  const { get, set } = filters;
  const types = get('type').split(',').filter(Boolean);
  const isOwn = get('from') !== '' || get('to') !== '' || get('period') === OWN_PERIOD;
  /** Another filter begins at the newest event again. */
  const change = (changes: Record<string, string | undefined>) => set({ ...changes, cursor: undefined });
  return (
    <search className="filters" aria-label="Filters">
      <TypeChoice realm={realm} taken={types} onAdd={(type) => change({ type: [...types, type].join(',') })} />
      <Select
        label="Outcome"
        hideLabel
        value={get('outcome') || null}
        none="Any outcome"
        options={outcomes.map((id) => ({ id, label: outcomeWords[id] }))}
        onChange={(outcome) => change({ outcome: outcome ?? undefined })}
      />
      <Select
        label="Period"
        hideLabel
        value={isOwn ? OWN_PERIOD : get('period') || null}
        none="Any time"
        options={[...periods, { id: OWN_PERIOD, label: 'From … to …' }]}
        onChange={(period) => change({ period: period ?? undefined, from: undefined, to: undefined })}
      />
      {textFilters.map(({ name, label }) => (
        <Find key={name} label={label} value={get(name)} onChange={(text) => change({ [name]: text.trim() })} />
      ))}
      {isOwn && (
        <>
          <TimeField
            label="From"
            value={Number(get('from')) || null}
            onChange={(from) => change({ period: OWN_PERIOD, from: from?.toString() })}
          />
          <TimeField
            label="To"
            value={Number(get('to')) || null}
            onChange={(to) => change({ period: OWN_PERIOD, to: to?.toString() })}
          />
        </>
      )}
      {types.length > 0 && (
        <ul className="chips" aria-label="Chosen types">
          {types.map((type) => (
            <li key={type} className="chip">
              <bdi>{type}</bdi>
              <IconButton
                label={`Remove ${type}`}
                icon="close"
                small
                onPress={() => change({ type: types.filter((one) => one !== type).join(',') })}
              />
            </li>
          ))}
        </ul>
      )}
    </search>
  );
}

/** `ADMIN_WRITE` stands for every administrative change. */
const wordsOf = (type: string): string =>
  type === 'ADMIN_WRITE' ? 'ADMIN_WRITE (every change of an administrator)' : type;

function TypeChoice({
  realm,
  taken,
  onAdd,
}: {
  realm: string;
  taken: readonly string[];
  onAdd: (type: string) => void;
}) {
  const types = useRead(listEventTypes, { params: { realm } });
  return (
    <Choose
      label="Type of event"
      placeholder="Any type"
      options={(types.data?.body ?? [])
        .filter((type) => !taken.includes(type))
        .map((id) => ({ id, label: wordsOf(id) }))}
      onChoose={onAdd}
    />
  );
}
