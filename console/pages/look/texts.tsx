// The realm's own texts of its pages, by language: a line for each text that differs from the built-in one.
import { useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { type ConsoleAnswer, call } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getEndpoints, getSettings } from '../../generated/routes.ts';
import { kindInSection } from '../../kinds/all.ts';
import { curlOf, documentCommand, listCommands, realmManifest } from '../../kinds/commands.ts';
import { contractFaults } from '../../kinds/create.tsx';
import { EditingDialogs, EditingFaults, useEditing } from '../../kinds/editing.tsx';
import type { KindEntry, LoadedKind, Row } from '../../kinds/entry.ts';
import { FormActions, same } from '../../kinds/form.tsx';
import { paramsOf, readObject, useKind, useObject } from '../../kinds/loaded.ts';
import { holdableOf, ManagedBadge, ManagedField, managedOf } from '../../kinds/managed.tsx';
import { isDeclared, useManagedObject } from '../../kinds/managed-object.tsx';
import { listAddress } from '../../kinds/pages.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';
import type { PageProps } from '../page.ts';
import { LookPage } from './frame.tsx';
import { languageName, localesOf } from './languages.ts';
import { MoreLanguages } from './more-languages.tsx';
import { PagePreview } from './page-preview.tsx';
import { TextCatalogue } from './text-catalogue.tsx';
import { type Line, lineOf, linesOf, TextLines, textsOf } from './text-lines.tsx';

export default function Texts({ params: { realm } }: PageProps) {
  const entry = kindInSection('messageTexts');
  if (!entry) return null;
  return (
    <LookPage
      realm={realm}
      at="texts"
      actions={
        <>
          <AsCommand commands={() => listCommands(entry, realm)} />
          <ButtonLink to={listAddress(realm, entry)}>Own words as a list</ButtonLink>
        </>
      }
    >
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
        <MoreLanguages realm={realm} />
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
  const [lines, setLines] = useState<readonly Line[]>(() => linesOf(read?.body?.texts));
  const endpoints = useRead(getEndpoints, { params: { realm } }, { enabled: may(realm, 'realm:read') });
  const address = { realm, key: locale };
  const params = paramsOf(entry, address);
  const [none] = useState(() => noneIn(locale));
  const editing = useEditing({
    realm,
    read: read ?? none,
    fields: [{ name: 'texts', label: 'Texts' }],
    check: ({ texts }) => {
      const found = contractFaults(kind.input, { locale, texts });
      const twice = lines.find(
        ({ key }, at) => key.trim() !== '' && lines.findIndex((other) => other.key.trim() === key.trim()) !== at,
      );
      if (twice) found.set(`texts.${twice.key.trim()}`, 'is there twice');
      return found;
    },
    write: async ({ texts }, tagged) => {
      const { create, put } = kind.routes;
      if (!create || !put) throw new Error('texts can’t be written here');
      const answer = read
        ? await call(put, { params, body: { texts }, ...tagged })
        : await call(create, { params: { realm }, body: { locale, texts } });
      return { ...answer, body: answer.body as Row };
    },
    readAgain: () => readObject(entry, address),
    onSaved: () => say('Saved the texts. The pages show them at once.'),
    onReplaced: ({ texts }) => setLines(linesOf(texts)),
  });
  const { before, changes } = editing;
  const managed = useManagedObject({ entry, kind, address, editing });
  const isReadOnly = !mayWrite || isDeclared(managed, 'texts');
  const isChanged = 'texts' in changes;
  const edit = (now: readonly Line[]) => {
    setLines(now);
    const texts = textsOf(now);
    // the order of the lines means nothing
    editing.edit('texts', same(sorted(texts), sorted(before.texts)) ? before.texts : texts);
  };
  const document = { [entry.section]: [{ locale, texts: changes.texts }] };
  const texts = Object.fromEntries(
    Object.entries(textsOf(lines)).filter(([key, text]) => key !== '' && text.trim() !== ''),
  );
  const account = endpoints.data?.body?.account;
  return (
    <form className="form" onSubmit={editing.submit} noValidate>
      <EditingFaults editing={editing} />
      {mayWrite && managed.ways}
      {!may(realm, entry.write) && (
        <Note>You may read the texts. Changing them needs the permission message-texts:write.</Note>
      )}
      <Panel
        title={`In ${languageName(locale)}`}
        lead="All other texts stay built in, as they are listed below; scope.NAME explains a client scope as people are asked for consent."
        actions={
          <>
            <ManagedBadge
              managed={managedOf(before)}
              realm={realm}
              thing={{ ...holdableOf(entry, before), write: entry.write }}
            />
            {account !== undefined && (
              <a href={account} target="_blank" rel="noreferrer" className="button small">
                Open the real pages<span className="visually-hidden"> (a new window)</span>
              </a>
            )}
          </>
        }
        plain
      >
        <ManagedField name="texts" managed={managed.managed} isOpen={managed.isOpen('texts')}>
          {(isManaged) => (
            <TextLines lines={lines} onChange={edit} faults={editing.faults} isDisabled={!mayWrite || isManaged} />
          )}
        </ManagedField>
      </Panel>
      {may(realm, 'settings:write') ? (
        <Panel
          title="The pages"
          lead="As the server renders them with what is in the form, saved or not. Nothing in them can be pressed."
          plain
        >
          <PagePreview realm={realm} unsaved={{ texts }} locales={[locale]} />
        </Panel>
      ) : (
        <Note>A preview of the pages needs the permission settings:write.</Note>
      )}
      <TextCatalogue
        realm={realm}
        locale={locale}
        own={new Set(lines.map(({ key }) => key.trim()))}
        onTake={!isReadOnly ? (key, text) => edit([...lines, lineOf(key, text)]) : undefined}
      />
      {!isReadOnly && (
        <FormActions
          said={isChanged ? 'The texts are changed.' : 'Nothing is changed yet.'}
          more={isChanged && <Button onPress={editing.discard}>Discard</Button>}
          submit={managed.isCopy ? 'Show the declaration' : 'Review and save'}
          isDisabled={!isChanged}
        />
      )}
      <EditingDialogs
        editing={editing}
        title={`Save the texts in ${languageName(locale)}`}
        document={document}
        copy={managed.copy}
        isCopy={managed.isCopy}
        isOpen={managed.isHeld}
        commands={async () => {
          const route = read ? kind.routes.put : kind.routes.create;
          const texts = { texts: changes.texts };
          return {
            realmctl: documentCommand(realm, document),
            ...(route && { curl: curlOf(route, params, read ? texts : { locale, ...texts }) }),
            manifest: await realmManifest(realm, document),
          };
        }}
      />
    </form>
  );
}

/** A language without texts of the realm's own. */
const noneIn = (locale: string): ConsoleAnswer<Row> => ({
  status: 404,
  body: { locale, texts: {} },
  etag: undefined,
  nextCursor: undefined,
  total: undefined,
});
const sorted = (texts: unknown): unknown =>
  Object.entries(Object(texts)).sort(([one], [other]) => (one < other ? -1 : 1));
