// Editing what the server has: the edits beside what was read, the server's plan, the write with the tag of what was read, and a
// merge if another administrator was faster. Every form that changes stored configuration edits by this.
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, lazy, Suspense, useState } from 'react';
import type { ConsoleAnswer, ServerProblem } from '../api/client.ts';
import { readAnew } from '../api/queries.ts';
import type { Commands } from '../ui/as-command.tsx';
import { Button } from '../ui/button.tsx';
import { ProblemNote } from '../ui/state.tsx';
import { say } from '../ui/toast.tsx';
import type { Copied } from './copied.ts';
import type { Row } from './entry.ts';
import { FaultNote, isOfFields } from './fault-note.tsx';
import type { Field } from './fields.ts';
import { changedFields, FormActions, same } from './form.tsx';
import { managedOf, unheld } from './managed.tsx';
import { faultsOf } from './plan.ts';
import { Review } from './review.tsx';

const Merge = lazy(() => import('./merge.tsx'));
const Copy = lazy(async () => ({ default: (await import('./modify-and-copy.tsx')).CopyDialog }));

/** The headers of a write that must not overwrite another administrator's. */
export interface Tagged {
  headers?: { 'if-match': string };
}

interface Given {
  realm: string;
  read: ConsoleAnswer<Row>;
  /** The fields that a merge goes through. */
  fields: readonly Pick<Field, 'name' | 'label'>[];
  /** The faults that are found without the server. */
  check: (changes: Row, before: Row) => Map<string, string>;
  write: (changes: Row, tagged: Tagged, before: Row) => Promise<ConsoleAnswer<Row>>;
  readAgain: () => Promise<ConsoleAnswer<Row>>;
  onSaved: (row: Row | undefined) => void;
  /**
   * The form holds these values now: the edits were saved, discarded or merged, or there were none and the object changed.
   * @param edits those that are left
   */
  onReplaced?: (now: Row, edits: Row) => void;
  /** The edits of a form that keeps them itself, such as an editor with undo. */
  kept?: Row;
}

export interface Editing {
  realm: string;
  fields: Given['fields'];
  /** Of what the edits are against. */
  etag: string | undefined;
  /** The values that the reader began with, or has merged with. */
  before: Row;
  edits: Row;
  /** The edits that differ from `before`. */
  changes: Row;
  faults: ReadonlyMap<string, string>;
  edit: (name: string, value: unknown) => void;
  discard: () => void;
  /** Another one shows the fields anew: some keep what is typed in them. */
  round: number;
  submit: (event: FormEvent) => void;
  review: () => void;
  /** The plan is shown. */
  isReviewed: boolean;
  endReview: () => void;
  /** The plan finds faults in fields. */
  correct: (faults: ReadonlyMap<string, string>) => void;
  save: () => void;
  isSaving: boolean;
  problem: ServerProblem | null;
  /** The values of another administrator, who was faster. */
  theirs: Row | undefined;
  merge: (edits: Row | undefined) => void;
}

export function useEditing({
  realm,
  read,
  fields,
  check,
  write,
  readAgain,
  onSaved,
  onReplaced,
  kept,
}: Given): Editing {
  // a refetch in the background must not change the values that the edits are against
  const [base, setBase] = useState(read);
  const [seen, setSeen] = useState(read);
  const [round, setRound] = useState(0);
  const [own, setEdits] = useState<Row>({});
  const edits = kept ?? own;
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [isReviewed, setReviewed] = useState(false);
  const [theirs, setTheirs] = useState<ConsoleAnswer<Row>>();
  const before: Row = base.body ?? {};
  const changes = changedFields(before, edits);
  const begin = (answer: ConsoleAnswer<Row>, again: Row) => {
    setBase(answer);
    setSeen(read);
    setEdits(again);
    setRound(round + 1);
    onReplaced?.({ ...answer.body, ...again }, again);
  };
  // nothing is edited: another administrator saved, or a manager restored what it declares
  if (seen !== read && Object.keys(edits).length === 0) {
    if (same(base.body, read.body)) {
      setSeen(read);
      setBase(read);
    } else begin(read, {});
  }
  const saving = useMutation<ConsoleAnswer<Row>, ServerProblem>({
    mutationFn: async () => {
      try {
        return await write(changes, base.etag === undefined ? {} : { headers: { 'if-match': base.etag } }, before);
      } catch (problem) {
        if ((problem as ServerProblem).is?.('precondition-failed')) {
          // the page around the form, and the next plan, look at what is stored now
          const [now] = await Promise.all([readAgain(), readAnew(realm)]);
          setTheirs(now);
        }
        throw problem;
      }
    },
    onSuccess: async (answer) => {
      await readAnew(realm);
      setReviewed(false);
      // the answer of a write names no managers
      if (answer.body) begin({ ...answer, body: { ...answer.body, managedBy: before.managedBy } }, {});
      onSaved(answer.body);
    },
    onError: (problem) => {
      setFaults(faultsOf(problem));
      if (problem.problem?.errors || problem.is('precondition-failed')) setReviewed(false);
    },
  });
  const review = () => {
    const found = check(changes, before);
    setFaults(found);
    saving.reset();
    if (found.size === 0) setReviewed(true);
  };
  return {
    realm,
    fields,
    etag: base.etag,
    before,
    edits,
    changes,
    faults,
    edit: (name, value) => setEdits((now) => ({ ...now, [name]: value })),
    discard: () => begin(seen === read ? base : read, {}),
    round,
    submit: (event) => {
      event.preventDefault();
      review();
    },
    review,
    isReviewed,
    endReview: () => {
      setReviewed(false);
      // deleted meanwhile: the page reads it anew, and says so
      if (saving.error?.status === 404) void readAnew(realm);
    },
    correct: (found) => {
      setFaults(found);
      setReviewed(false);
    },
    save: () => saving.mutate(),
    isSaving: saving.isPending,
    problem: saving.error,
    theirs: theirs?.body,
    merge: (merged) => {
      setTheirs(undefined);
      if (!merged || !theirs) return;
      saving.reset();
      begin(theirs, merged);
      if (Object.keys(changedFields(theirs.body ?? {}, merged)).length > 0) setReviewed(true);
      else say('The form shows it as it is now. Nothing of yours is left to save.');
    },
  };
}

/** At the top of a form: what is wrong in it, and why the server did not take it. */
export function EditingFaults({ editing: { faults, problem, isReviewed, theirs } }: { editing: Editing }) {
  return (
    <>
      {faults.size > 0 && <FaultNote faults={faults} problem={problem} />}
      {problem && !isReviewed && !theirs && !isOfFields(problem) && <ProblemNote problem={problem} />}
    </>
  );
}

/** The line below a form of edits. @param cancel where the form came from; without one the edits can be discarded */
export function EditingActions({
  editing: { changes, discard },
  one,
  cancel,
  isCopy = false,
}: {
  editing: Editing;
  /** As in "one setting". */
  one: string;
  cancel?: string;
  isCopy?: boolean;
}) {
  const count = Object.keys(changes).length;
  return (
    <FormActions
      submit={isCopy ? 'Show the declaration' : 'Review and save'}
      isDisabled={count === 0}
      said={count === 0 ? 'Nothing is changed yet.' : `${count} ${count === 1 ? `${one} is` : `${one}s are`} changed.`}
      {...(cancel === undefined ? { more: count > 0 && <Button onPress={discard}>Discard</Button> } : { cancel })}
    />
  );
}

/** The plan before the write, the declaration to take away instead, and the merge. */
export function EditingDialogs({
  editing: {
    realm,
    fields,
    before,
    changes,
    isReviewed,
    endReview,
    correct,
    save,
    isSaving,
    problem,
    theirs,
    merge,
    edits,
  },
  title,
  name,
  document,
  sent = changes,
  commands,
  copy,
  isCopy = false,
  isOpen = () => false,
  save: words = 'Save',
}: {
  editing: Editing;
  title: string;
  /** The object as faults of its document name it. */
  name?: string;
  /** The change as a document; undefined: no document can say it. */
  document: Row | undefined;
  /** The fields that are sent, where they are more than the changes. */
  sent?: Row;
  commands: () => Commands | Promise<Commands>;
  /** The declaration with the changes. @param row as it is stored, with its managers */
  copy?: (row: Row, changes: Row) => Promise<Copied>;
  /** The changes are taken away as a declaration; nothing is saved. */
  isCopy?: boolean;
  /** A field of a manager that may be edited nevertheless: it is held. */
  isOpen?: (field: string) => boolean;
  /** The words of the button that writes. */
  save?: string;
}) {
  const [copiesMine, setCopiesMine] = useState(false);
  // a refusal of the save is read to its end, also if the page turns to copying meanwhile
  const copies = copy !== undefined && isCopy && !problem;
  return (
    <>
      {isReviewed && copies && (
        <Suspense>
          <Copy make={() => copy(before, changes)} onClose={endReview} />
        </Suspense>
      )}
      {isReviewed && !copies && (
        <Review
          title={title}
          realm={realm}
          document={document}
          changes={sent}
          before={before}
          save={words}
          {...(name !== undefined && { one: { name } })}
          onFaults={correct}
          onSave={save}
          onClose={endReview}
          isSaving={isSaving}
          problem={problem}
          commands={commands}
        />
      )}
      {theirs && (
        <Suspense>
          <Merge
            fields={fields}
            base={before}
            mine={edits}
            theirs={theirs}
            managed={unheld(managedOf(theirs), isOpen)}
            onClose={() => merge(undefined)}
            onMerged={merge}
            {...(copy && { onCopy: () => setCopiesMine(true) })}
          />
        </Suspense>
      )}
      {theirs && copy && copiesMine && (
        <Suspense>
          <Copy make={() => copy(theirs, changedFields(theirs, edits))} onClose={() => setCopiesMine(false)} />
        </Suspense>
      )}
    </>
  );
}
