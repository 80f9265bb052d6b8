// What the test of a directory found: entries as the users that they would be, or why the directory can't be read.
import type { ReactNode } from 'react';
import type { OutputOf } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import * as api from '../../generated/routes.ts';
import type { Row } from '../../kinds/entry.ts';
import { FaultNote } from '../../kinds/fault-note.tsx';
import { faultsOf } from '../../kinds/plan.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { IntoView } from '../../ui/into-view.tsx';
import { OutboundAdvice } from '../../ui/outbound-advice.tsx';
import { Panel } from '../../ui/page.tsx';
import { Note, ProblemNote } from '../../ui/state.tsx';
import { Table, type TableColumn } from '../../ui/table.tsx';

type Found = OutputOf<typeof api.testDirectory>;
type Entry = Found['entries'][number];
/** The test reads no more people. */
const MOST_SHOWN = 10;

const value = (text: string | null) => (text === null ? <span className="none">none</span> : <bdi>{text}</bdi>);

const columns: readonly TableColumn<Entry>[] = [
  { id: 'username', head: 'username', cell: ({ username }) => value(username) },
  { id: 'email', head: 'e-mail', cell: ({ email }) => value(email) },
  {
    id: 'name',
    head: 'name',
    cell: ({ firstName, lastName }) => value([firstName, lastName].filter(Boolean).join(' ') || null),
  },
  {
    id: 'enabled',
    head: 'state',
    cell: ({ enabled }) => <Badge tone={enabled ? 'good' : 'warn'}>{enabled ? 'enabled' : 'disabled'}</Badge>,
  },
  {
    id: 'attributes',
    head: 'attributes',
    cell: ({ attributes, omitted }) => {
      const parts = Object.entries(attributes).map(([name, values]) => `${name}: ${values.join(', ')}`);
      const left = omitted.map((name) => `${name}: not shown`);
      return value([...parts, ...left].join('; ') || null);
    },
  },
  { id: 'entry', head: 'entry', cell: ({ entry }) => <bdi className="mono small">{entry}</bdi> },
];

/** @param children what to do about a directory that can't be read */
export function DirectoryFound({ found, children }: { found: Found; children: ReactNode }) {
  if (!found.ok)
    return (
      <Note tone="bad" live>
        <strong>The directory could not be read.</strong>
        <span className="mono" dir="auto">
          {found.error}
        </span>
        <OutboundAdvice answer={found.error} />
        <span>{children}</span>
      </Note>
    );
  const some = found.entries.length > 0;
  return (
    <>
      <Note tone={some ? 'good' : 'warn'} live>
        <strong>
          {some
            ? `The directory answers. A sync would take these people${found.entries.length < MOST_SHOWN ? '' : ', and others'}:`
            : 'The directory answers, but the base and the filter find no person.'}
        </strong>
      </Note>
      {some && (
        <Table label="People of the directory" rows={found.entries} columns={columns} idOf={({ entry }) => entry} />
      )}
      <DirectoryFaults title="Entries that a sync could not take whole" faults={found.faults} />
    </>
  );
}

export function DirectoryFaults({
  title,
  faults,
}: {
  title: string;
  faults: readonly { entry: string; message: string }[];
}) {
  if (faults.length === 0) return null;
  return (
    <div>
      <h3>{title}</h3>
      <ul className="faults">
        {faults.map(({ entry, message }) => (
          <li key={`${entry} ${message}`}>
            <bdi className="mono">{entry}</bdi>: <span dir="auto">{message}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Tries out the answers of the wizard before anything is saved. */
export function UnsavedTest({ realm, body }: { realm: string; body: Row }) {
  const test = useWrite(api.testUnsavedDirectory);
  const found = test.data?.body;
  const faults = faultsOf(test.error);
  // the server judges the answers by the contract
  const asked = body as NonNullable<Parameters<typeof test.mutate>[0]['body']>;
  return (
    <Panel title="Try the answers" lead="Connects, signs in there, and reads ten people. Nothing is saved.">
      <div className="stack">
        <div className="row">
          <Button isDisabled={test.isPending} onPress={() => test.mutate({ params: { realm }, body: asked })}>
            {test.isPending ? 'Asking the directory…' : 'Try them'}
          </Button>
        </div>
        {!test.isPending && !test.isIdle && (
          <IntoView key={test.submittedAt}>
            {faults.size > 0 && <FaultNote faults={faults} />}
            {test.error && faults.size === 0 && <ProblemNote problem={test.error} />}
            {found && <DirectoryFound found={found}>Change the answers, then try them again.</DirectoryFound>}
          </IntoView>
        )}
      </div>
    </Panel>
  );
}
