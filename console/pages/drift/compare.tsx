// Compares a realm with another one, or with a file, by the server's dry run: nothing is written.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, type ServerProblem } from '../../api/client.ts';
import { useRealms } from '../../api/realms.ts';
import { exportRealm } from '../../generated/routes.ts';
import { type Plan, planOf } from '../../kinds/plan.ts';
import { PlanChanges } from '../../kinds/plan-view.tsx';
import { word } from '../../kinds/shell-words.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Choose } from '../../ui/choose.tsx';
import { Code } from '../../ui/code.tsx';
import { Editor } from '../../ui/editor.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Panel } from '../../ui/page.tsx';
import { Empty, Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { type RealmDocument, readDocument, withoutPlaceholders } from './document.ts';

interface Comparison {
  /** The changes that would make this realm equal to the other side. */
  plan: Plan | undefined;
  /** The things that the other side lacks; undefined: a file is no realm that could be asked. */
  reverse: Plan | undefined;
}

const exported = async (realm: string): Promise<RealmDocument> => {
  const { body } = await call(exportRealm, { params: { realm }, query: { users: 'false', defaults: 'false' } });
  return withoutPlaceholders({ ...body });
};

export function Compare({ realm }: { realm: string }) {
  const filters = useFilters();
  const other = filters.get('with');
  const [file, setFile] = useState<RealmDocument>();
  const realms = useRealms('');
  const names = (realms.data?.body ?? []).map((one) => one.realm).filter((name) => name !== realm);
  const compared = useQuery<Comparison, ServerProblem>({
    queryKey: [realm, 'compare', other, file],
    enabled: other !== '' || file !== undefined,
    queryFn: async () => {
      if (file) return { plan: await planOf(realm, file), reverse: undefined };
      const [theirs, ours] = await Promise.all([exported(other), exported(realm)]);
      const [plan, reverse] = await Promise.all([planOf(realm, theirs), planOf(other, ours)]);
      return { plan, reverse };
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  return (
    <div className="stack">
      <p className="soft">
        The server plans what would have to change here. Users and secrets are not compared, and nothing is written.
      </p>
      <Panel title="Compare with">
        <div className="stack">
          <div className="row">
            <Choose
              label="Another realm"
              options={names.map((name) => ({ id: name, label: name }))}
              onChoose={(name) => {
                setFile(undefined);
                filters.set({ with: name });
              }}
            />
            {other !== '' && <Badge tone="info">{other}</Badge>}
          </div>
          <FileInput
            onRead={(document) => {
              filters.set({ with: undefined });
              setFile(document);
            }}
          />
        </div>
      </Panel>
      {compared.isFetching && <Loading lines={6} label="Asking the server for its plan" />}
      {compared.error && <ProblemNote problem={compared.error} retry={() => void compared.refetch()} />}
      {compared.data && <Result realm={realm} other={other || 'the file'} {...compared.data} />}
      {other !== '' && (
        <Code
          text={`realmctl export ${word(other)} --no-users > ${word(`${other}.json`)} && realmctl diff --realm ${word(realm)} -f ${word(`${other}.json`)}`}
          label="the same by realmctl"
        />
      )}
    </div>
  );
}

function FileInput({ onRead }: { onRead: (document: RealmDocument) => void }) {
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string>();
  const read = async (given: string) => {
    setText(given);
    const { document, fault: found } = await readDocument(given);
    setFault(found);
    if (document) onRead(document);
  };
  return (
    <details>
      <summary>A file: a realm document, as JSON or YAML</summary>
      <div className="stack tight">
        <label className="field">
          <span className="label">File</span>
          <input
            type="file"
            className="input"
            accept=".json,.yaml,.yml,application/json"
            onChange={({ target }) => {
              const [chosen] = target.files ?? [];
              if (chosen) void chosen.text().then(read);
            }}
          />
        </label>
        <Editor label="The document" language="yaml" value={text} onChange={setText} isInvalid={fault !== undefined} />
        {fault !== undefined && (
          <span className="fault" role="alert">
            {fault}
          </span>
        )}
        <div>
          <Button isDisabled={text.trim() === ''} onPress={() => void read(text)}>
            Compare
          </Button>
        </div>
      </div>
    </details>
  );
}

function Result({ realm, other, plan, reverse }: { realm: string; other: string } & Comparison) {
  if (!plan) return null;
  // what is held would not change by a document, and differs nevertheless
  const changes = [...plan.changes, ...plan.held];
  /** The things that only this realm has: the other side would have to make them. */
  const onlyHere = [...(reverse?.changes ?? []), ...(reverse?.held ?? [])].filter(({ action }) => action === 'create');
  const onlyThere = changes.filter(({ action }) => action === 'create');
  const differ = changes.filter(({ action }) => action !== 'create');
  if (changes.length === 0 && onlyHere.length === 0)
    return (
      <Panel>
        <Empty icon="check" title="There is no difference">
          <p>
            {realm} is as {other} says.
          </p>
        </Empty>
      </Panel>
    );
  return (
    <>
      {plan.warnings.map(({ kind, key, message }) => (
        <Note key={`${kind} ${key} ${message}`} tone="warn">
          <bdi>{key}</bdi>: {message}
        </Note>
      ))}
      {differ.length > 0 && (
        <Panel title={`Different (${differ.length})`} lead={`First as ${realm} has it, then as ${other} has it.`}>
          <PlanChanges changes={differ} />
        </Panel>
      )}
      {onlyThere.length > 0 && (
        <Panel title={`Only in ${other} (${onlyThere.length})`}>
          <PlanChanges changes={onlyThere} />
        </Panel>
      )}
      {onlyHere.length > 0 && (
        <Panel title={`Only in ${realm} (${onlyHere.length})`}>
          <PlanChanges changes={onlyHere} />
        </Panel>
      )}
    </>
  );
}
