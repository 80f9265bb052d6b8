// "Who signs in how": the steps that the saved flow would ask a user for in a situation. The situation is in the address.
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { simulateSignIn } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { faultsOf } from '../../kinds/plan.ts';
import { ReferenceField } from '../../kinds/reference-field.tsx';
import { UserField } from '../../kinds/user-field.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { useFilters } from '../../ui/filters.ts';
import { useLater } from '../../ui/later.ts';
import { Panel } from '../../ui/page.tsx';
import { Empty, Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { PathPanel, RiskFindings } from '../sign-in/path.tsx';
import { SituationFields, situationFilters, situationOf, situationQuery } from '../sign-in/situation.tsx';

export function Simulation({ realm, alias, isChanged }: { realm: string; alias: string; isChanged: boolean }) {
  const may = useMay();
  const filters = useFilters();
  const userId = filters.get('user') || null;
  const clientId = filters.get('client') || null;
  const situation = situationOf(filters);
  const ipAddress = useLater(situation.ipAddress);
  const params = { realm, userId: userId ?? '' };
  const query = {
    flow: alias,
    ...(clientId !== null && { clientId }),
    ...situationQuery({ ...situation, ipAddress }),
  };
  const simulation = useRead(simulateSignIn, { params, query }, { enabled: userId !== null, keep: true });
  const found = simulation.data?.body;
  const faults = faultsOf(simulation.error);
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
          <UserField realm={realm} label="User" value={userId} onChange={(user) => filters.set({ user })} />
          {may.partly(realm, 'clients:read') && (
            <ReferenceField
              realm={realm}
              kind="client"
              label="Application"
              help="Empty: none, as at the account page."
              value={clientId}
              onChange={(client) => filters.set({ client })}
            />
          )}
          <SituationFields
            value={situation}
            onChange={(changes) => filters.set(situationFilters({ ...situation, ...changes }))}
            faults={faults}
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
          faults.size === 0 && <ProblemNote problem={simulation.error} retry={() => void simulation.refetch()} />
        ) : !found ? (
          <Loading lines={5} />
        ) : (
          <>
            <PathPanel title="What the user is asked for" path={found.path} />
            {found.risk && (
              <Panel title="Risk in this situation">
                <RiskFindings risk={found.risk} />
              </Panel>
            )}
          </>
        )}
      </div>
    </div>
  );
}
