// The words of a message in one language.
import { useMemo, useState } from 'react';
import { messages, type TemplateKey } from '../../../server/contract/message-keys.ts';
import { messageTemplates, templateFaults } from '../../../server/contract/message-templates.ts';
import { type ConsoleAnswer, call } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import * as api from '../../generated/routes.ts';
import { curlOf, documentCommand, realmManifest } from '../../kinds/commands.ts';
import { ConfirmWrite } from '../../kinds/confirm-write.tsx';
import { contractFaults } from '../../kinds/create.tsx';
import { EditingDialogs, EditingFaults, useEditing } from '../../kinds/editing.tsx';
import type { KindEntry, LoadedKind, Row } from '../../kinds/entry.ts';
import { FormActions } from '../../kinds/form.tsx';
import { readObject } from '../../kinds/loaded.ts';
import { ManagedField } from '../../kinds/managed.tsx';
import { useManagedObject } from '../../kinds/managed-object.tsx';
import { idOf } from '../../kinds/pages.tsx';
import { Button } from '../../ui/button.tsx';
import { Toggle } from '../../ui/choices.tsx';
import { Editor } from '../../ui/editor.tsx';
import { FieldSet, TextField } from '../../ui/fields.tsx';
import { Panel } from '../../ui/page.tsx';
import { Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';
import { languageName } from './languages.ts';
import { SendTest } from './send-test.tsx';
import { TemplatePreview } from './template-preview.tsx';

interface Props {
  realm: string;
  entry: KindEntry;
  kind: LoadedKind;
  templateKey: TemplateKey;
  locale: string;
  /** undefined: the built-in words are sent in this language. */
  read: ConsoleAnswer<Row> | undefined;
}

/** A language without words of the realm's own begins with the built-in ones, which the preview answers without a sample. */
export function TemplateForm(props: Props) {
  const { realm, templateKey, locale, read } = props;
  const mayWrite = useMay()(realm, 'messaging:write');
  const preview = useWrite(api.previewMessageTemplate);
  const builtIn = preview.data;
  const start = useMemo(
    () =>
      builtIn && {
        ...builtIn,
        etag: undefined,
        body: { ...keyOf(templateKey, locale), ...builtIn.body, enabled: true },
      },
    [builtIn, templateKey, locale],
  );
  if (read) return <Form {...props} read={read} isNew={false} mayWrite={mayWrite} />;
  return (
    <div className="stack">
      <Note>The built-in words are sent in {languageName(locale)}, or those of a language that it belongs to.</Note>
      {preview.error && <ProblemNote problem={preview.error} />}
      {start ? (
        <Form {...props} read={start} isNew mayWrite={mayWrite} />
      ) : (
        mayWrite && (
          <div className="row">
            <Button
              variant="primary"
              isDisabled={preview.isPending}
              onPress={() => preview.mutate({ params: { realm }, body: { templateKey, locale, sample: {} } })}
            >
              Write them anew
            </Button>
          </div>
        )
      )}
    </div>
  );
}

const keyOf = (templateKey: TemplateKey, locale: string) => ({
  templateKey,
  channel: messages[templateKey].channel,
  locale,
});
const FIELDS = [
  { name: 'subject', label: 'Subject' },
  { name: 'body', label: 'Text' },
  { name: 'html', label: 'The text is HTML' },
  { name: 'enabled', label: 'Send these words' },
];
const wordsOf = ({ subject, body, html, enabled }: Row) => ({
  subject: typeof subject === 'string' ? subject : null,
  body: String(body ?? ''),
  html: html === true,
  enabled: enabled !== false,
});

function Form({
  realm,
  entry,
  kind,
  templateKey,
  locale,
  read,
  isNew,
  mayWrite,
}: Props & { read: ConsoleAnswer<Row>; isNew: boolean; mayWrite: boolean }) {
  const { channel, placeholders } = messages[templateKey];
  const key = keyOf(templateKey, locale);
  const address = { realm, key: idOf(entry, key) };
  const bodyOf = (changes: Row, before: Row) => ({ ...key, ...(isNew && wordsOf(before)), ...changes });
  const editing = useEditing({
    realm,
    read,
    fields: FIELDS,
    check: (changes, before) => {
      const found = contractFaults(messageTemplates.input, bodyOf(changes, before));
      const words = wordsOf({ ...before, ...changes });
      for (const { path, message } of templateFaults({ templateKey, channel, ...words })) found.set(path, message);
      return found;
    },
    write: (changes, tagged, before) =>
      call(api.putMessageTemplate, { params: { realm }, body: bodyOf(changes, before), ...tagged }),
    readAgain: () => readObject(entry, address),
    onSaved: () => say('Saved the message.'),
  });
  const { before, edits, changes, faults } = editing;
  const managed = useManagedObject({ entry, kind, address, editing });
  const words = wordsOf({ ...before, ...edits });
  const isChanged = isNew || Object.keys(changes).length > 0;
  const body = bodyOf(changes, before);
  const document: Row = { [entry.section]: [body] };
  const isSms = channel === 'SMS';
  const fieldOf = (name: string) => ({ name, managed: managed.managed, isOpen: managed.isOpen(name) });
  const isOurs = managed.managed === undefined || (managed.isOpen('') && !managed.isCopy);
  return (
    <form className="form" onSubmit={editing.submit} noValidate>
      <EditingFaults editing={editing} />
      {!mayWrite && <Note>You may read the message. Changing it needs the permission messaging:write.</Note>}
      {mayWrite && managed.ways}
      <div className="beside">
        <Panel title="Words" plain>
          <div className="form-group">
            {!isSms && (
              <ManagedField {...fieldOf('subject')}>
                {(isManaged) => (
                  <TextField
                    label={channel === 'PUSH' ? 'Title' : 'Subject'}
                    value={words.subject ?? ''}
                    onChange={(subject) => editing.edit('subject', subject === '' ? null : subject)}
                    fault={faults.get('subject')}
                    isDisabled={!mayWrite || isManaged}
                  />
                )}
              </ManagedField>
            )}
            <ManagedField {...fieldOf('body')}>
              {(isManaged) => (
                <FieldSet label="Text" fault={faults.get('body')}>
                  <Editor
                    label="Text"
                    language="text"
                    value={words.body}
                    onChange={(text) => editing.edit('body', text)}
                    isReadOnly={!mayWrite || isManaged}
                    isInvalid={faults.has('body')}
                  />
                </FieldSet>
              )}
            </ManagedField>
            <p className="hint">
              Placeholders:{' '}
              {['realm', 'user', 'user.firstName', ...placeholders].map((name, at) => (
                <span key={name}>
                  {at > 0 && ', '}
                  <code>{`{{${name}}}`}</code>
                </span>
              ))}
              . Values are escaped in HTML.
            </p>
            {channel === 'EMAIL' && (
              <ManagedField {...fieldOf('html')}>
                {(isManaged) => (
                  <Toggle
                    label="The text is HTML"
                    help="A part without HTML is made of it."
                    isSelected={words.html}
                    isDisabled={!mayWrite || isManaged}
                    onChange={(html) => editing.edit('html', html)}
                  />
                )}
              </ManagedField>
            )}
            <ManagedField {...fieldOf('enabled')}>
              {(isManaged) => (
                <Toggle
                  label="Send these words"
                  help="Off: the built-in text is sent instead."
                  isSelected={words.enabled}
                  isDisabled={!mayWrite || isManaged}
                  onChange={(enabled) => editing.edit('enabled', enabled)}
                />
              )}
            </ManagedField>
          </div>
        </Panel>
        <TemplatePreview
          realm={realm}
          templateKey={templateKey}
          locale={locale}
          subject={words.subject}
          body={words.body}
          html={words.html}
        />
      </div>
      {mayWrite && <SendTest realm={realm} templateKey={templateKey} locale={locale} isChanged={isChanged} />}
      {mayWrite && (
        <FormActions
          said={isChanged ? (isNew ? 'Not saved yet.' : 'The message is changed.') : 'Nothing is changed yet.'}
          more={
            <>
              {!isNew && isOurs && locale !== 'en' && (
                <Remove realm={realm} templateKey={templateKey} locale={locale} />
              )}
              {Object.keys(changes).length > 0 && <Button onPress={editing.discard}>Discard</Button>}
            </>
          }
          submit={managed.isCopy ? 'Show the declaration' : 'Review and save'}
          isDisabled={!isChanged}
        />
      )}
      <EditingDialogs
        editing={editing}
        title="Save the message"
        document={document}
        sent={body}
        copy={managed.copy}
        isCopy={managed.isCopy}
        isOpen={managed.isHeld}
        commands={async () => ({
          realmctl: documentCommand(realm, document),
          curl: curlOf(api.putMessageTemplate, { realm }, body),
          manifest: await realmManifest(realm, document),
        })}
      />
    </form>
  );
}

/** Back to the built-in words. Those in English are there always. */
function Remove({ realm, templateKey, locale }: Pick<Props, 'realm' | 'templateKey' | 'locale'>) {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button variant="danger" onPress={() => setAsked(true)}>
        Use the built-in words
      </Button>
      {isAsked && (
        <ConfirmWrite
          title="Use the built-in words?"
          action="Delete the realm’s own"
          route={api.deleteMessageTemplate}
          input={{ params: { realm, ...keyOf(templateKey, locale) } }}
          done={`The built-in words are sent in ${languageName(locale)}.`}
          onClose={() => setAsked(false)}
        >
          <p>The realm’s own words in {languageName(locale)} are deleted.</p>
        </ConfirmWrite>
      )}
    </>
  );
}
