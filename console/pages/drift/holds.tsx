// The holds of a realm: what each keeps as it is, why, until when; placing one and ending one.
import { useState } from 'react';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { endHold, listHolds, listManagers } from '../../generated/routes.ts';
import { writeOf } from '../../kinds/all.ts';
import { endCommands } from '../../kinds/commands.ts';
import { HoldDialog } from '../../kinds/hold-dialog.tsx';
import type { Hold, Holdable } from '../../kinds/managed.tsx';
import { inSentence, labelOf } from '../../kinds/words.ts';
import { WriteInRow } from '../../kinds/write-in-row.tsx';
import { Button } from '../../ui/button.tsx';
import { Choose } from '../../ui/choose.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Panel } from '../../ui/page.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { PartyName } from '../audit/party.tsx';

export const heldName = ({ kind, key }: { kind: string; key?: string | undefined }): string =>
  `${inSentence(labelOf(kind))} ${key ?? '(all)'}`;

export function Holds({ realm }: { realm: string }) {
  const may = useMay();
  const mayWrite = may(realm, 'holds:write');
  const holds = useRead(listHolds, { params: { realm }, query: { limit: 1000 } });
  const end = useWrite(endHold);
  const [places, setPlaces] = useState(false);
  const rows = holds.data?.body;
  return (
    <div className="stack">
      <div className="row between">
        <p className="soft">
          A hold is for an emergency edit: no document changes what it names, until it ends. It stands for seven days at
          most.
        </p>
        {mayWrite && may(realm, 'managers:read') && (
          <Button icon="pin" onPress={() => setPlaces(true)}>
            Place a hold
          </Button>
        )}
      </div>
      {holds.error && <ProblemNote problem={holds.error} retry={() => void holds.refetch()} />}
      {end.error && <ProblemNote problem={end.error} />}
      {!rows && !holds.error && <Loading lines={4} />}
      {rows &&
        (rows.length === 0 ? (
          <Panel>
            <Empty icon="pin" title="No hold stands">
              <p>Each document has its way: what is declared returns with the next run of its manager.</p>
            </Empty>
          </Panel>
        ) : (
          <Table
            label="Holds"
            rows={rows}
            idOf={({ id }) => id}
            columns={[
              {
                id: 'what',
                head: 'holds',
                cell: ({ what }) => (
                  <ul>
                    {what.map((one) => (
                      <li key={heldName(one)}>
                        <bdi>{heldName(one)}</bdi>
                      </li>
                    ))}
                  </ul>
                ),
              },
              { id: 'reason', head: 'why', cell: ({ reason }) => <bdi>{reason}</bdi> },
              { id: 'by', head: 'placed by', cell: ({ placedBy }) => <PartyName party={placedBy} /> },
              { id: 'at', head: 'placed', cell: ({ placedAt }) => <Time ms={placedAt} /> },
              { id: 'until', head: 'ends', cell: ({ until }) => <Time ms={until} /> },
              ...(mayWrite
                ? [
                    {
                      id: 'end',
                      head: 'end it',
                      cell: ({ id, what }: Pick<Hold, 'id' | 'what'>) =>
                        what.every(({ kind }) => may(realm, writeOf(kind))) && (
                          <WriteInRow
                            write={end}
                            input={{ params: { realm, id } }}
                            words="End now"
                            done="Ended the hold. The declared state returns."
                            command={`end the hold of ${what.map(heldName).join(', ')}`}
                            commands={() => endCommands(realm, id)}
                          />
                        ),
                    },
                  ]
                : []),
            ]}
          />
        ))}
      {places && <Placing realm={realm} onClose={() => setPlaces(false)} />}
    </div>
  );
}

const SEPARATOR = '\n';

/** First the things, of those that managers own; then why and for how long. */
function Placing({ realm, onClose }: { realm: string; onClose: () => void }) {
  const managers = useRead(listManagers, { params: { realm }, query: { limit: 1000 } });
  const may = useMay();
  const [things, setThings] = useState<readonly Holdable[]>([]);
  const [isChosen, setChosen] = useState(false);
  if (isChosen) return <HoldDialog realm={realm} things={things} onClose={onClose} />;
  const owned = (managers.data?.body ?? [])
    .flatMap(({ owns }) => owns)
    .filter(({ kind }) => kind !== 'user' && may(realm, writeOf(kind)));
  const isTaken = (one: Holdable) => things.some(({ kind, key }) => kind === one.kind && key === one.key);
  return (
    <Dialog
      title="Place a hold"
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button variant="primary" isDisabled={things.length === 0} onPress={() => setChosen(true)}>
            Go on
          </Button>
        </>
      }
    >
      {managers.error && <ProblemNote problem={managers.error} />}
      {managers.isPending && <Loading lines={2} />}
      {managers.data && (
        <>
          <p className="soft">Choose what to hold, of all that managers declare.</p>
          <Choose
            label="What to hold"
            options={owned
              .filter((one) => !isTaken(one))
              .map(({ kind, key }) => ({ id: kind + SEPARATOR + key, label: heldName({ kind, key }) }))}
            onChoose={(id) => {
              const [kind = '', key = ''] = id.split(SEPARATOR);
              setThings([...things, { kind, key }]);
            }}
          />
          <ul className="stack tight">
            {things.map((thing) => (
              <li key={heldName(thing)} className="row between">
                <bdi>{heldName(thing)}</bdi>
                <Button small onPress={() => setThings(things.filter((one) => one !== thing))}>
                  Remove
                </Button>
              </li>
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}
