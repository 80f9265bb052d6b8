// The realm's own texts of its pages, by language: a line for each text that differs from the built-in one.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, lazy, Suspense, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { type ConsoleAnswer, call, type ServerProblem } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getEndpoints, getSettings } from '../../generated/routes.ts';
import { kindInSection } from '../../kinds/all.ts';
import { documentCommand, listCommands, realmManifest } from '../../kinds/commands.ts';
import { contractFaults, FaultNote } from '../../kinds/create.tsx';
import type { KindEntry, LoadedKind, Row } from '../../kinds/entry.ts';
import { useKind, useObject } from '../../kinds/loaded.ts';
import { faultsOf } from '../../kinds/plan.ts';
import { Review } from '../../kinds/review.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';
import type { PageProps } from '../page.ts';
import { LookPage } from './frame.tsx';
import { languageName, localesOf } from './languages.ts';
import { type Line, linesOf, TextLines, textsOf } from './text-lines.tsx';

const Merge = lazy(() => import('../../kinds/merge.tsx'));

export default function Texts({ params: { realm } }: PageProps) {
  const entry = kindInSection('messageTexts');
  if (!entry) return null;
  return (
    <LookPage realm={realm} at="texts" actions={<AsCommand commands={() => listCommands(entry, realm)} />}>
      <Languages realm={realm} entry={entry} />
    </LookPage>
  );
}

function Languages({ realm, entry }: { realm: string; entry: KindEntry }) {
  const may = useMay();
  const [path] = useLocation();
  const [search] = useSearchParams();
  const kind = useKind(entry);
  const settings = useRead(getSettings, { params: { realm } }, { enabled: may(realm, 'settings:read') });
  const offered = localesOf(settings.data?.body);
  const wanted = search.get('locale');
  const locale = wanted ?? offered[0] ?? 'en';
  const all = [...new Set([...offered, ...(wanted === null ? [] : [wanted])])];
  const texts = useObject(entry, { realm, key: locale });
  const isNew = texts.error?.status === 404;
  return (
    <div className="stack">
      <nav className="row" aria-label="Languages">
        {all.map((tag) => (
          <Link
            key={tag}
            href={`${path}?${new URLSearchParams({ locale: tag })}`}
            className="button small"
            aria-current={tag === locale ? 'page' : undefined}
          >
            {languageName(tag)}
          </Link>
        ))}
      </nav>
      {texts.error && !isNew && <ProblemNote problem={texts.error} retry={() => void texts.refetch()} />}
      {kind && (texts.data || isNew) ? (
        <TextsForm
          key={`${locale} ${isNew}`}
          realm={realm}
          entry={entry}
          kind={kind}
          locale={locale}
          read={isNew ? undefined : texts.data}
        />
      ) : (
        !texts.error && <Loading lines={6} />
      )}
    </div>
  );
}

interface FormProps {
  realm: string;
  entry: KindEntry;
  kind: LoadedKind;
  locale: string;
  /** undefined: the language has no texts of its own yet. */
  read: ConsoleAnswer<Row> | undefined;
}

function TextsForm({ realm, entry, kind, locale, read }: FormProps) {
  const may = useMay();
  const mayWrite = may(realm, entry.write);
  const client = useQueryClient();
  const [base, setBase] = useState(read);
  const [lines, setLines] = useState<readonly Line[]>(() => linesOf(read?.body?.texts));
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [isReviewed, setReviewed] = useState(false);
  const [theirs, setTheirs] = useState<ConsoleAnswer<Row>>();
  const endpoints = useRead(getEndpoints, { params: { realm } }, { enabled: may(realm, 'realm:read') });
  const before: Row = base?.body ?? { texts: {} };
  const texts = textsOf(lines);
  const isChanged = JSON.stringify(sorted(texts)) !== JSON.stringify(sorted(before.texts));
  const document = { [entry.section]: [{ locale, texts }] };
  const save = useMutation<ConsoleAnswer<Row>, ServerProblem>({
    mutationFn: async () => {
      const { create, put } = kind.routes;
      if (!create || !put) throw new Error('texts can’t be written here');
      const answer = base
        ? await call(put, {
            params: { realm, [entry.at]: locale },
            body: { texts },
            ...(base.etag !== undefined && { headers: { 'if-match': base.etag } }),
          })
        : await call(create, { params: { realm }, body: { locale, texts } });
      return { ...answer, body: answer.body as Row };
    },
    onSuccess: async (answer) => {
      setBase(answer);
      setLines(linesOf(answer.body?.texts));
      setReviewed(false);
      say('Saved the texts. The pages show them at once.');
      await client.invalidateQueries({ predicate: ({ queryKey: [of] }) => of === realm });
    },
    onError: async (problem) => {
      if (problem.is('precondition-failed') && kind.routes.get) {
        setReviewed(false);
        const answer = await call(kind.routes.get, { params: { realm, [entry.at]: locale } });
        setTheirs({ ...answer, body: answer.body as Row });
        return;
      }
      setFaults(faultsOf(problem));
      if (problem.problem?.errors) setReviewed(false);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = contractFaults(kind.input, { locale, texts });
    const twice = lines.find(
      ({ key }, at) => key.trim() !== '' && lines.findIndex((other) => other.key.trim() === key.trim()) !== at,
    );
    if (twice) found.set(`texts.${twice.key.trim()}`, 'is there twice');
    setFaults(found);
    save.reset();
    if (found.size === 0) setReviewed(true);
  };
  const account = endpoints.data?.body?.account;
  return (
    <form className="form" onSubmit={submit} noValidate>
      {faults.size > 0 && <FaultNote faults={faults} />}
      {save.error && !isReviewed && !theirs && <ProblemNote problem={save.error} quietFields />}
      {!mayWrite && <Note>You may read the texts. Changing them needs the permission message-texts:write.</Note>}
      <Panel
        title={`In ${languageName(locale)}`}
        lead="All other texts stay built in. The documentation lists the keys; scope.NAME explains a client scope as people are asked for consent."
        {...(account !== undefined && {
          actions: (
            <a href={account} target="_blank" rel="noreferrer" className="button small">
              Open the real pages<span className="visually-hidden"> (a new window)</span>
            </a>
          ),
        })}
        plain
      >
        <TextLines lines={lines} onChange={setLines} faults={faults} isDisabled={!mayWrite} />
      </Panel>
      {mayWrite && (
        <div className="form-actions">
          <span className="said" role="status">
            {isChanged ? 'The texts are changed.' : 'Nothing is changed yet.'}
          </span>
          {isChanged && <Button onPress={() => setLines(linesOf(before.texts))}>Discard</Button>}
          <Button type="submit" variant="primary" isDisabled={!isChanged}>
            Review and save
          </Button>
        </div>
      )}
      {isReviewed && (
        <Review
          title={`Save the texts in ${languageName(locale)}`}
          realm={realm}
          document={document}
          changes={{ texts }}
          before={before}
          save="Save"
          onSave={() => save.mutate()}
          onClose={() => setReviewed(false)}
          isSaving={save.isPending}
          problem={save.error}
          commands={async () => ({
            realmctl: documentCommand(realm, document),
            manifest: await realmManifest(realm, document),
          })}
        />
      )}
      {theirs?.body && (
        <Suspense>
          <Merge
            fields={[{ name: 'texts', label: 'Texts' }]}
            base={before}
            mine={{ texts }}
            theirs={theirs.body}
            onClose={() => setTheirs(undefined)}
            onMerged={(merged) => {
              setBase(theirs);
              setLines(linesOf(merged.texts ?? theirs.body?.texts));
              setTheirs(undefined);
              save.reset();
            }}
          />
        </Suspense>
      )}
    </form>
  );
}

const sorted = (texts: unknown): unknown =>
  Object.entries(Object(texts)).sort(([one], [other]) => (one < other ? -1 : 1));
