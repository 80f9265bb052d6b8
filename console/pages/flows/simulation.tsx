// "Who signs in how": the steps that the flow, as it is edited, would ask a user for in a situation. The situation is in the address.
import { useAsked, useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { simulateSignIn, simulateUnsavedFlow } from '../../generated/routes.ts';
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
import {
  isOfSituation,
  SituationFields,
  situationBody,
  situationFilters,
  situationOf,
  situationQuery,
} from '../sign-in/situation.tsx';
import { bodyOf, type Tree } from './tree-model.ts';

/** @param edited the steps, if they differ from the saved ones */
export function Simulation({ realm, alias, edited }: { realm: string; alias: string; edited: Tree | undefined }) {
  const may = useMay();
  const filters = useFilters();
  const userId = filters.get('user') || null;
  const clientId = filters.get('client') || null;
  const situation = situationOf(filters);
  const ipAddress = useLater(situation.ipAddress);
  const params = { realm, userId: userId ?? '' };
  const named = { flow: alias, ...(clientId !== null && { clientId }) };
  const query = { ...named, ...situationQuery({ ...situation, ipAddress }) };
  const body = { ...named, ...situationBody({ ...situation, ipAddress }), executions: bodyOf(edited ?? []) };
  const isChosen = userId !== null;
  const ofSaved = useRead(simulateSignIn, { params, query }, { enabled: isChosen && !edited, keep: true });
  const ofEdited = useAsked(simulateUnsavedFlow, { params, body }, { enabled: isChosen && !!edited, keep: true });
  const simulation = edited ? ofEdited : ofSaved;
  const curl = () =>
    edited ? curlOf(simulateUnsavedFlow, params, body) : curlOf(simulateSignIn, params, undefined, query);
  const found = simulation.data?.body;
  const faults = faultsOf(simulation.error);
  const isShownAtField = faults.size > 0 && [...faults.keys()].every(isOfSituation);
  return (
    <div className="flow-split">
      <Panel title="Situation" actions={isChosen && <AsCommand quiet commands={() => ({ curl: curl() })} />}>
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
            realm={realm}
            value={situation}
            onChange={(changes) => filters.set(situationFilters({ ...situation, ...changes }))}
            faults={faults}
          />
        </div>
      </Panel>
      <div className="stack" aria-live="polite">
        {edited && <Note>This simulates the steps as you edited them. They are not saved.</Note>}
        {!isChosen ? (
          <Panel plain>
            <Empty icon="user" title="Choose a user">
              <p>
                The server then says which steps this flow asks the user for, with their credentials, groups and roles
                as they are now. Nothing is written, and the user notices nothing.
              </p>
            </Empty>
          </Panel>
        ) : simulation.error ? (
          !isShownAtField && <ProblemNote problem={simulation.error} retry={() => void simulation.refetch()} />
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
