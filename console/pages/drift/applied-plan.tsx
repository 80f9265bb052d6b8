// One applied plan: its differences, which manager applied it, as whom and from where; taking it back, after a look at that plan.
import { useState } from 'react';
import { Link } from 'wouter';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getHistory, listEvents } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { clusterResource, kubectlGet, shortManager } from '../../kinds/managers.ts';
import { PlanChanges } from '../../kinds/plan-view.tsx';
import { word } from '../../kinds/shell-words.ts';
import { labelOf } from '../../kinds/words.ts';
import { inRealm, realmAddress } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Facts, Page, Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { PartyName } from '../audit/party.tsx';
import type { PageProps } from '../page.ts';
import { Counts, historyAddress } from './history.tsx';
import { UndoDialog } from './undo.tsx';

/** The event of an import is written with its plan. */
const NEAR_MS = 5_000;

export default function AppliedPlan({ params: { realm, revision: text = '' } }: PageProps) {
  const revision = Number(text);
  const may = useMay();
  const [undoes, setUndoes] = useState(false);
  const plan = useRead(getHistory, { params: { realm, revision } });
  const found = plan.data?.body;
  const at = found?.appliedAt ?? 0;
  const events = useRead(
    listEvents,
    { params: { realm }, query: { type: 'REALM_IMPORTED', from: at - NEAR_MS, to: at + NEAR_MS, limit: 50 } },
    { enabled: found !== undefined && may(realm, 'events:read') },
  );
  const event = events.data?.body?.toSorted(
    (one, other) => Math.abs(one.occurredAt - at) - Math.abs(other.occurredAt - at),
  )[0];
  const resource = found && clusterResource(found.manager);
  return (
    <Page
      title={`Revision ${text}`}
      documentTitle={`Revision ${text} – ${realm}`}
      crumbs={[
        { label: realm, to: realmAddress(realm) },
        { label: 'Declared and history', to: `${inRealm(realm, 'declared')}?tab=history` },
      ]}
      actions={
        found && (
          <>
            <AsCommand
              commands={() => ({
                realmctl: `realmctl history ${word(realm)} ${revision}`,
                curl: curlOf(getHistory, { realm, revision }),
              })}
            />
            {found.complete && <Button onPress={() => setUndoes(true)}>Take it back…</Button>}
          </>
        )
      }
    >
      {plan.error && <ProblemNote problem={plan.error} retry={() => void plan.refetch()} />}
      {!found && !plan.error && <Loading lines={8} />}
      {found && (
        <div className="stack">
          {!found.complete && (
            <Note>
              This plan is not kept as a whole: it was too large, or it named a user who was erased. It can’t be taken
              back.
            </Note>
          )}
          <Panel plain>
            <Facts
              facts={[
                { name: 'Applied', value: <Time ms={found.appliedAt} full /> },
                { name: 'As manager', value: <bdi>{shortManager(found.manager)}</bdi> },
                { name: 'By', value: <PartyName party={found.by} realm={realm} /> },
                ...(event?.ipAddress ? [{ name: 'From', value: <code>{event.ipAddress}</code> }] : []),
                { name: 'What', value: <Counts {...found} /> },
                ...(found.undoes === null
                  ? []
                  : [
                      {
                        name: 'Takes back',
                        value: <Link href={historyAddress(realm, found.undoes)}>Revision {found.undoes}</Link>,
                      },
                    ]),
              ]}
            />
          </Panel>
          {resource && <Code text={kubectlGet(resource)} label="the command that shows the resource" />}
          {found.changes.length > 0 && (
            <Panel title="Changes">
              <PlanChanges changes={found.changes} />
            </Panel>
          )}
          {found.ownership.length > 0 && (
            <Panel title="Ownership" plain>
              <Facts
                facts={found.ownership.map(({ action, kind, key, from }) => ({
                  name: `${labelOf(kind)} ${key}`,
                  value: ownershipWords(action, from),
                }))}
              />
            </Panel>
          )}
        </div>
      )}
      {undoes && found && (
        <UndoDialog realm={realm} revision={revision} manager={found.manager} onClose={() => setUndoes(false)} />
      )}
    </Page>
  );
}

function ownershipWords(action: 'take' | 'release' | 'fields', from: string | undefined): string {
  if (action === 'take')
    return from === undefined ? 'The manager owns it from here on.' : `Taken from ${from}, by force.`;
  return action === 'release' ? 'Released: the manager owns it no more.' : 'The manager declares other fields of it.';
}
