// Many users from a file: what the file has, the import with its progress, and the rows that the server refused.
import { useMutation } from '@tanstack/react-query';
import { type ChangeEvent, useEffect, useId, useRef, useState } from 'react';
import { ServerProblem } from '../../api/client.ts';
import { readAnew } from '../../api/queries.ts';
import { importUsers } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { option, word } from '../../kinds/shell-words.ts';
import { realmAddress } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge, Chips } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Toggle } from '../../ui/choices.tsx';
import { Code } from '../../ui/code.tsx';
import { saveFile } from '../../ui/download.ts';
import { Page, Panel } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { Note, ProblemNote } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import type { PageProps } from '../page.ts';
import { usersAddress } from './addresses.ts';
import { type FileKind, type FileRow, kindOfFile, RowFault, rowsOf } from './import-rows.ts';
import { type ImportState, importRows, nothingYet, type RowFailure } from './import-run.ts';
import { count } from './words.ts';

const SHOWN = 5;
const FAILURES_SHOWN = 200;
/** A larger file takes more memory than a browser's tab should; `realmctl` streams it. */
const LARGEST_BYTES = 100_000_000;
const START_BYTES = 4096;
const kindWords: Readonly<Record<FileKind, string>> = {
  csv: 'CSV',
  json: 'a JSON array',
  ndjson: 'a JSON object a line',
};
const EXAMPLE = `username,email,firstName,lastName,groups,attributes.department
ana,ana@example.com,Ana,Baker,/sales|/sales/north,trade
ben,ben@example.com,Ben,Cook,/sales,`;

interface Chosen {
  name: string;
  kind: FileKind;
  rows: FileRow[];
}

/** @throws RowFault in words for the reader */
async function readFile(file: File): Promise<Chosen> {
  if (file.size > LARGEST_BYTES)
    throw new RowFault('The file is larger than 100 MB. Import it by realmctl, which streams it.');
  const kind = kindOfFile(file.name, await file.slice(0, START_BYTES).text());
  const rows = rowsOf[kind](await file.text());
  if (rows.length === 0) throw new RowFault('The file has no users.');
  return { name: file.name, kind, rows };
}

export default function ImportUsers({ params: { realm } }: PageProps) {
  const [round, setRound] = useState(0);
  const [atomic, setAtomic] = useState(false);
  const [progress, setProgress] = useState<ImportState>();
  const stop = useRef(new AbortController());
  useEffect(() => {
    const { current } = stop;
    return () => current.abort();
  }, []);
  const read = useMutation<Chosen, Error, File>({ mutationFn: readFile });
  const run = useMutation<ImportState, Error, readonly FileRow[]>({
    mutationFn: (rows) => {
      stop.current = new AbortController();
      setProgress(nothingYet);
      return importRows(realm, rows, { atomic, signal: stop.current.signal, onProgress: setProgress });
    },
    onSettled: () => readAnew(realm),
  });
  const again = () => {
    setRound(round + 1);
    read.reset();
    run.reset();
    setProgress(undefined);
  };
  const chosen = read.data;
  return (
    <Page
      title="Import users"
      lead="The import finds users again by their usernames, creates those that are new, and changes the others. What a row leaves out stays as it is."
      crumbs={[
        { label: realm, to: realmAddress(realm) },
        { label: 'Users', to: usersAddress(realm) },
      ]}
      actions={
        <AsCommand
          commands={() => ({
            realmctl: `realmctl users import -r ${word(realm)} ${option('--file', chosen?.kind === 'csv' || !chosen ? 'users.ndjson' : chosen.name)}${atomic ? ' --atomic' : ''}`,
            curl: curlOf(importUsers, { realm }, [{ username: 'ana', email: 'ana@example.com' }], { atomic }),
          })}
        />
      }
    >
      {!progress && (
        <ChooseFile
          key={round}
          onChoose={(file) => {
            run.reset();
            read.mutate(file);
          }}
        />
      )}
      {read.error && (
        <Note tone="bad" live>
          <strong>The file can’t be imported.</strong>
          <span>{read.error.message}</span>
        </Note>
      )}
      {chosen && !progress && (
        <Panel title={chosen.name} lead={`${count(chosen.rows.length, 'user')}, as ${kindWords[chosen.kind]}.`} plain>
          <Preview rows={chosen.rows} />
          <div className="content stack">
            <Faulty rows={chosen.rows} />
            <Toggle
              label="All or none"
              help="If a row is refused, no row is written. Otherwise a refused row loses no other one."
              isSelected={atomic}
              onChange={setAtomic}
            />
            <div className="row end">
              <Button onPress={again}>Choose another file</Button>
              <Button variant="primary" onPress={() => run.mutate(chosen.rows)}>
                Import {count(chosen.rows.filter(({ fault }) => fault === undefined).length, 'user')}
              </Button>
            </div>
          </div>
        </Panel>
      )}
      {chosen && progress && (
        <Panel title={run.isPending ? 'Importing' : 'The import'}>
          <div className="stack">
            <Progress label={chosen.name} done={progress.sent} all={chosen.rows.length} />
            <p className="row" role="status">
              <Badge tone="good">{progress.created.toLocaleString('en')} created</Badge>
              <Badge tone="info">{progress.updated.toLocaleString('en')} updated</Badge>
              <Badge>{progress.unchanged.toLocaleString('en')} unchanged</Badge>
              <Badge {...(progress.failures.length > 0 && { tone: 'bad' as const })}>
                {progress.failures.length.toLocaleString('en')} refused
              </Badge>
            </p>
            {run.error && (
              <>
                <ProblemNote problem={run.error} />
                {run.error instanceof ServerProblem && progress.sent > 0 && (
                  <Note tone="warn">
                    The first {count(progress.sent, 'row')} were sent before. Sending the same file again changes
                    nothing for them.
                  </Note>
                )}
              </>
            )}
            {!run.isPending && progress.sent < chosen.rows.length && !run.error && (
              <Note tone="warn">Stopped after {count(progress.sent, 'row')}.</Note>
            )}
            {!run.isPending && atomic && progress.failures.length > 0 && (
              <Note tone="bad">Nothing was written, as a row was refused.</Note>
            )}
            <div className="row end">
              {run.isPending ? (
                <Button onPress={() => stop.current.abort()}>Stop after this batch</Button>
              ) : (
                <>
                  <Button onPress={again}>Import another file</Button>
                  <ButtonLink to={usersAddress(realm)} variant="primary">
                    Show the users
                  </ButtonLink>
                </>
              )}
            </div>
          </div>
        </Panel>
      )}
      {progress && progress.failures.length > 0 && <Failures failures={progress.failures} />}
    </Page>
  );
}

function ChooseFile({ onChoose }: { onChoose: (file: File) => void }) {
  const id = useId();
  const choose = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [file] = target.files ?? [];
    if (file) onChoose(file);
  };
  return (
    <Panel title="The file">
      <div className="stack">
        <div className="field">
          <label htmlFor={id}>A file of users</label>
          <input
            id={id}
            className="input file"
            type="file"
            accept=".csv,.json,.ndjson,.jsonl"
            aria-describedby={`${id}-help`}
            onChange={choose}
          />
          <span className="hint" id={`${id}-help`}>
            CSV whose first line names the fields, a JSON array, or a JSON object a line. The file is read here first;
            nothing is sent yet.
          </span>
        </div>
        <Code text={EXAMPLE} label="an example of CSV" />
      </div>
    </Panel>
  );
}

const None = () => <span className="none">–</span>;

function Preview({ rows }: { rows: readonly FileRow[] }) {
  return (
    <>
      <Table
        label="The first users of the file"
        rows={rows.slice(0, SHOWN)}
        idOf={({ at }) => at}
        columns={[
          {
            id: 'username',
            head: 'username',
            cell: ({ row }) => (row.username ? <bdi>{String(row.username)}</bdi> : <None />),
          },
          { id: 'email', head: 'e-mail address', cell: ({ row }) => (row.email ? <bdi>{row.email}</bdi> : <None />) },
          {
            id: 'name',
            head: 'name',
            cell: ({ row }) => <bdi>{[row.firstName, row.lastName].filter(Boolean).join(' ') || '–'}</bdi>,
          },
          { id: 'groups', head: 'groups', cell: ({ row }) => <Chips items={row.groups ?? []} most={3} /> },
          { id: 'at', head: 'place', cell: ({ at }) => <span className="soft">{at}</span> },
        ]}
      />
      {rows.length > SHOWN && <p className="hint pad">And {(rows.length - SHOWN).toLocaleString('en')} more.</p>}
    </>
  );
}

/** The rows that can't be sent, before anything is. */
function Faulty({ rows }: { rows: readonly FileRow[] }) {
  const faulty = rows.filter(({ fault }) => fault !== undefined);
  if (faulty.length === 0) return null;
  return (
    <Note tone="warn">
      <strong>{count(faulty.length, 'row')} can’t be sent:</strong>
      <ul>
        {faulty.slice(0, SHOWN).map(({ at, fault }) => (
          <li key={at}>
            {at}: <code>{fault?.path}</code> {fault?.message}
          </li>
        ))}
      </ul>
      {faulty.length > SHOWN && <span>And {(faulty.length - SHOWN).toLocaleString('en')} more.</span>}
      <span>Correct them in the file, or import the others: these are listed afterwards.</span>
    </Note>
  );
}

function Failures({ failures }: { failures: readonly RowFailure[] }) {
  return (
    <Panel
      title="Refused rows"
      plain
      actions={
        <Button
          small
          onPress={() =>
            saveFile(
              'refused-users.ndjson',
              failures.map(({ row }) => `${JSON.stringify(row)}\n`).join(''),
              'application/x-ndjson',
            )
          }
        >
          Save them as a file
        </Button>
      }
    >
      <Table
        label="Refused rows"
        rows={failures.slice(0, FAILURES_SHOWN)}
        idOf={({ at }) => at}
        columns={[
          { id: 'at', head: 'place', cell: ({ at }) => at },
          { id: 'username', head: 'username', cell: ({ username }) => <bdi>{username}</bdi> },
          {
            id: 'errors',
            head: 'why',
            cell: ({ errors }) => (
              <ul className="plain-list">
                {errors.map(({ path, message }) => (
                  <li key={`${path} ${message}`}>
                    {path !== '' && (
                      <>
                        <code>{path}</code>:{' '}
                      </>
                    )}
                    {message}
                  </li>
                ))}
              </ul>
            ),
          },
        ]}
      />
      {failures.length > FAILURES_SHOWN && (
        <p className="hint pad">
          The first {FAILURES_SHOWN} of {failures.length.toLocaleString('en')} are shown; the file has all.
        </p>
      )}
    </Panel>
  );
}
