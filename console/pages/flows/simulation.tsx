// "Who signs in how": the steps that the saved flow would ask a user for in a situation. The situation is in the address.
import { useSearchParams } from 'wouter';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { simulateSignIn } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { ReferenceField } from '../../kinds/reference-field.tsx';
import { UserField } from '../../kinds/user-field.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Toggle } from '../../ui/choices.tsx';
import { NumberField, Select, TextField } from '../../ui/fields.tsx';
import { useLater } from '../../ui/later.ts';
import { Panel } from '../../ui/page.tsx';
import { Empty, Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { SignInPath } from './sign-in-path.tsx';

const bands = ['low', 'medium', 'high'] as const;
type Band = (typeof bands)[number];
const HIGHEST_LEVEL = 9;

export function Simulation({ realm, alias, isChanged }: { realm: string; alias: string; isChanged: boolean }) {
  const may = useMay();
  const [search, setSearch] = useSearchParams();
  const set = (name: string, value: string | null) =>
    setSearch(
      (now) => {
        const next = new URLSearchParams(now);
        if (value === null || value === '') next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  const userId = search.get('user');
  const clientId = search.get('client');
  const ipAddress = useLater(search.get('address') ?? '');
  const level = Number(search.get('level') ?? 0);
  const band = bands.find((one) => one === search.get('risk'));
  const deviceKnown = search.get('device') !== 'new';
  const params = { realm, userId: userId ?? '' };
  const query = {
    flow: alias,
    ...(clientId !== null && { clientId }),
    ...(level > 0 && { level }),
    ...(ipAddress !== '' && { ipAddress }),
    deviceKnown: String(deviceKnown),
    ...(band && { riskBand: band as Band }),
  };
  const simulation = useRead(simulateSignIn, { params, query }, { enabled: userId !== null, keep: true });
  const found = simulation.data?.body;
  const fault = simulation.error?.problem?.errors?.find(({ path }) => path.endsWith('ipAddress'))?.message;
  return (
    <div className="flow-split">
      <Panel
        title="Situation"
        actions={
          userId !== null && (
            <AsCommand quiet commands={() => ({ curl: curlOf(simulateSignIn, params, undefined, query) })} />
          )
        }
      >
        <div className="stack">
          <UserField realm={realm} label="User" value={userId} onChange={(id) => set('user', id)} />
          {may.partly(realm, 'clients:read') && (
            <ReferenceField
              realm={realm}
              kind="client"
              label="Application"
              help="Empty: none, as at the account page."
              value={clientId}
              onChange={(client) => set('client', client)}
            />
          )}
          <NumberField
            label="Level of assurance"
            help="What the application asks for; 0: any."
            value={level}
            least={0}
            most={HIGHEST_LEVEL}
            onChange={(value) => set('level', value ? String(value) : null)}
          />
          <TextField
            label="Address of the browser"
            help="Empty: one that is not unusual for the user."
            value={search.get('address') ?? ''}
            onChange={(address) => set('address', address)}
            mono
            fault={fault}
          />
          <Toggle
            label="The browser is known"
            help="The user has signed in with it before."
            isSelected={deviceKnown}
            onChange={(known) => set('device', known ? null : 'new')}
          />
          <Select
            label="Risk"
            none="As the realm’s policy scores it"
            options={bands.map((id) => ({ id, label: id }))}
            value={band ?? null}
            onChange={(value) => set('risk', value)}
          />
        </div>
      </Panel>
      <div className="stack" aria-live="polite">
        {isChanged && <Note tone="warn">This simulates the saved flow. Your edits count once they are saved.</Note>}
        {userId === null ? (
          <Panel plain>
            <Empty icon="user" title="Choose a user">
              <p>
                The server then says which steps this flow asks the user for, with their credentials, groups and roles
                as they are now. Nothing is written, and the user notices nothing.
              </p>
            </Empty>
          </Panel>
        ) : simulation.error ? (
          fault === undefined && <ProblemNote problem={simulation.error} retry={() => void simulation.refetch()} />
        ) : !found ? (
          <Loading lines={5} />
        ) : (
          <>
            <SignInPath path={found.path} />
            {found.risk && (
              <Panel
                title="Risk"
                actions={
                  <Badge tone={found.risk.band === 'low' ? 'good' : found.risk.band === 'medium' ? 'warn' : 'bad'}>
                    {found.risk.band}, {found.risk.score} points
                  </Badge>
                }
              >
                {found.risk.findings.length === 0 ? (
                  <p className="soft">Nothing is unusual.</p>
                ) : (
                  <ul className="plain-list">
                    {found.risk.findings.map(({ reason, points, message }) => (
                      <li key={reason}>
                        {message} <span className="soft small">{points} points</span>
                      </li>
                    ))}
                  </ul>
                )}
              </Panel>
            )}
          </>
        )}
      </div>
    </div>
  );
}
