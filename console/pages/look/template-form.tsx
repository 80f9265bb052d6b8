// The words of a message in one language.
import { type FormEvent, lazy, Suspense, useState } from 'react';
import { messages, type TemplateKey } from '../../../server/contract/message-keys.ts';
import { messageTemplates, templateFaults } from '../../../server/contract/message-templates.ts';
import { type ConsoleAnswer, call, type OutputOf } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import * as api from '../../generated/routes.ts';
import { curlOf, documentCommand, realmManifest } from '../../kinds/commands.ts';
import { contractFaults } from '../../kinds/create.tsx';
import { DeclaredOnlyNote, useLock } from '../../kinds/declared-only.tsx';
import type { Row } from '../../kinds/entry.ts';
import { FaultNote, isOfFields } from '../../kinds/fault-note.tsx';
import { changedFields } from '../../kinds/form.tsx';
import { faultsOf } from '../../kinds/plan.ts';
import { Review } from '../../kinds/review.tsx';
import { Button } from '../../ui/button.tsx';
import { Toggle } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Editor } from '../../ui/editor.tsx';
import { FieldSet, TextField } from '../../ui/fields.tsx';
import { Panel } from '../../ui/page.tsx';
import { Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';
import { languageName } from './languages.ts';
import { SendTest } from './send-test.tsx';
import { TemplatePreview } from './template-preview.tsx';

const Merge = lazy(() => import('../../kinds/merge.tsx'));

type Template = OutputOf<typeof api.listMessageTemplates>[number];

interface Props {
  realm: string;
  templateKey: TemplateKey;
  locale: string;
  /** undefined: the built-in words are sent in this language. */
  template: Template | undefined;
  /** Of the template as it was read. */
  etag: string | undefined;
}

/** A language without words of the realm's own begins with the built-in ones, which the preview answers without a sample. */
export function TemplateForm(props: Props) {
  const { realm, templateKey, locale, template } = props;
  const may = useMay();
  const lock = useLock(realm, 'messageTemplates', { kind: 'messageTemplate' });
  const mayWrite = may(realm, 'messaging:write') && !lock.isLocked;
  const preview = useWrite(api.previewMessageTemplate);
  const note = (
    <DeclaredOnlyNote
      realm={realm}
      section="messageTemplates"
      kind="messageTemplate"
      many="message templates"
      write="messaging:write"
    />
  );
  if (template)
    return (
      <div className="stack">
        {note}
        <Form {...props} start={template} mayWrite={mayWrite} />
      </div>
    );
  return (
    <div className="stack">
      {note}
      <Note>The built-in words are sent in {languageName(locale)}, or those of a language that it belongs to.</Note>
      {preview.error && <ProblemNote problem={preview.error} />}
      {preview.data?.body ? (
        <Form {...props} start={{ ...preview.data.body, enabled: true }} mayWrite={mayWrite} />
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

type Words = Pick<Template, 'subject' | 'body' | 'html' | 'enabled'>;
const FIELDS = [
  { name: 'subject', label: 'Subject' },
  { name: 'body', label: 'Text' },
  { name: 'html', label: 'The text is HTML' },
  { name: 'enabled', label: 'Send these words' },
];
const wordsOf = ({ subject, body, html, enabled }: Words): Words => ({ subject, body, html, enabled });

function Form({
  realm,
  templateKey,
  locale,
  template,
  etag,
  start,
  mayWrite,
}: Props & { start: Words; mayWrite: boolean }) {
  const { channel, placeholders } = messages[templateKey];
  const [before, setBefore] = useState(() => wordsOf(start));
  const [words, setWords] = useState(before);
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [isReviewed, setReviewed] = useState(false);
  const [tag, setTag] = useState(etag);
  const [theirs, setTheirs] = useState<ConsoleAnswer<Template>>();
  const save = useWrite(api.putMessageTemplate);
  const edit = (part: Partial<Words>) => setWords((now) => ({ ...now, ...part }));
  const key = { templateKey, channel, locale };
  const changes = template ? changedFields({ ...before }, { ...words }) : { ...words };
  const isChanged = template === undefined || Object.keys(changes).length > 0;
  const body = { ...key, ...changes };
  const document: Row = { messageTemplates: [body] };
  const isSms = channel === 'SMS';

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = contractFaults(messageTemplates.input, body);
    for (const { path, message } of templateFaults({ templateKey, channel, ...words })) found.set(path, message);
    setFaults(found);
    save.reset();
    if (found.size === 0) setReviewed(true);
  };
  const write = () =>
    save.mutate(
      { params: { realm }, body, ...(tag !== undefined && { headers: { 'if-match': tag } }) },
      {
        onSuccess: (saved) => {
          setTag(saved.etag);
          setBefore(words);
          setReviewed(false);
          say('Saved the message.');
        },
        onError: async (problem) => {
          if (problem.is('precondition-failed')) {
            setReviewed(false);
            setTheirs(await call(api.getMessageTemplate, { params: { realm, ...key } }));
            return;
          }
          setFaults(faultsOf(problem));
          if (problem.problem?.errors) setReviewed(false);
        },
      },
    );
  return (
    <form className="form" onSubmit={submit} noValidate>
      {faults.size > 0 && <FaultNote faults={faults} problem={save.error} />}
      {save.error && !isReviewed && !theirs && !isOfFields(save.error) && <ProblemNote problem={save.error} />}
      {!mayWrite && <Note>You may read the message. Changing it needs the permission messaging:write.</Note>}
      <div className="beside">
        <Panel title="Words" plain>
          <div className="form-group">
            {!isSms && (
              <TextField
                label={channel === 'PUSH' ? 'Title' : 'Subject'}
                value={words.subject ?? ''}
                onChange={(subject) => edit({ subject: subject === '' ? null : subject })}
                fault={faults.get('subject')}
                isDisabled={!mayWrite}
              />
            )}
            <FieldSet label="Text" fault={faults.get('body')}>
              <Editor
                label="Text"
                language="text"
                value={words.body}
                onChange={(text) => edit({ body: text })}
                isReadOnly={!mayWrite}
                isInvalid={faults.has('body')}
              />
            </FieldSet>
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
              <Toggle
                label="The text is HTML"
                help="A part without HTML is made of it."
                isSelected={words.html}
                isDisabled={!mayWrite}
                onChange={(html) => edit({ html })}
              />
            )}
            <Toggle
              label="Send these words"
              help="Off: the built-in text is sent instead."
              isSelected={words.enabled}
              isDisabled={!mayWrite}
              onChange={(enabled) => edit({ enabled })}
            />
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
        <div className="form-actions">
          <span className="said" role="status">
            {isChanged ? (template ? 'The message is changed.' : 'Not saved yet.') : 'Nothing is changed yet.'}
          </span>
          {template && locale !== 'en' && <Remove realm={realm} template={template} />}
          {isChanged && <Button onPress={() => setWords(before)}>Discard</Button>}
          <Button type="submit" variant="primary" isDisabled={!isChanged}>
            Review and save
          </Button>
        </div>
      )}
      {theirs?.body && (
        <Suspense>
          <Merge
            fields={FIELDS}
            base={{ ...before }}
            mine={changes}
            theirs={{ ...wordsOf(theirs.body) }}
            onClose={() => setTheirs(undefined)}
            onMerged={(merged) => {
              const stored = wordsOf(theirs.body ?? words);
              setBefore(stored);
              setTag(theirs.etag);
              setWords({ ...stored, ...merged });
              setTheirs(undefined);
              save.reset();
              setReviewed(true);
            }}
          />
        </Suspense>
      )}
      {isReviewed && (
        <Review
          title="Save the message"
          realm={realm}
          document={document}
          changes={changes}
          before={{ ...before }}
          save="Save"
          onSave={write}
          onClose={() => setReviewed(false)}
          isSaving={save.isPending}
          problem={save.error}
          commands={async () => ({
            realmctl: documentCommand(realm, document),
            curl: curlOf(api.putMessageTemplate, { realm }, body),
            manifest: await realmManifest(realm, document),
          })}
        />
      )}
    </form>
  );
}

/** Back to the built-in words. Those in English are there always. */
function Remove({ realm, template }: { realm: string; template: Template }) {
  const [isAsked, setAsked] = useState(false);
  const remove = useWrite(api.deleteMessageTemplate);
  const { templateKey, channel, locale } = template;
  return (
    <>
      <Button variant="danger" onPress={() => setAsked(true)}>
        Use the built-in words
      </Button>
      <Dialog
        title="Use the built-in words?"
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        alert
        footer={
          <>
            <Button onPress={() => setAsked(false)}>Keep them</Button>
            <Button
              variant="danger primary"
              isDisabled={remove.isPending}
              onPress={() =>
                remove.mutate(
                  { params: { realm, templateKey, channel, locale } },
                  {
                    onSuccess: () => {
                      setAsked(false);
                      say(`The built-in words are sent in ${languageName(locale)}.`);
                    },
                  },
                )
              }
            >
              Delete the realm’s own
            </Button>
          </>
        }
      >
        {remove.error && <ProblemNote problem={remove.error} />}
        <p>The realm’s own words in {languageName(locale)} are deleted.</p>
      </Dialog>
    </>
  );
}
