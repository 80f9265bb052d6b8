// A user's profile: the fields that the realm's user profile declares, saved at once.
import { type FormEvent, lazy, Suspense, useState } from 'react';
import { type ConsoleAnswer, call } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getUser, putUser } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import type { Row } from '../../kinds/entry.ts';
import { FaultNote, isOfFields } from '../../kinds/fault-note.tsx';
import { changedFields } from '../../kinds/form.tsx';
import { faultsOf } from '../../kinds/plan.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/code.tsx';
import { Help } from '../../ui/help.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import { bodyOf, type UserField, valuesOf } from './profile-fields.ts';
import { UserFields, useUserFields } from './user-fields.tsx';
import { count, type User } from './words.ts';

const Merge = lazy(() => import('../../kinds/merge.tsx'));

export function Profile({ realm, read }: { realm: string; read: ConsoleAnswer<User> }) {
  const fields = useUserFields(realm);
  if (!fields || !read.body) return <Loading lines={8} />;
  return (
    <div className="stack">
      <Form realm={realm} read={read} user={read.body} fields={fields} />
      <Panel title="Kept by the server" plain>
        <Facts
          facts={[
            {
              name: 'ID',
              help: <Help text="Applications know the user by it (`sub`), unless they have a pairwise one." />,
              value: (
                <span className="row">
                  <code>{read.body.id}</code>
                  <CopyButton text={read.body.id} label="Copy the id" />
                </span>
              ),
            },
            { name: 'Created', value: <Time ms={read.body.createdAt} full /> },
          ]}
        />
      </Panel>
    </div>
  );
}

function Form({
  realm,
  read,
  user: current,
  fields,
}: {
  realm: string;
  read: ConsoleAnswer<User>;
  user: User;
  fields: readonly UserField[];
}) {
  const may = useMay();
  const mayWrite = may.partly(realm, 'users:write');
  /** The values before the edits; a refetch behind the reader's back must not change it. */
  const [base, setBase] = useState({ user: current, etag: read.etag });
  const [edits, setEdits] = useState<Row>({});
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  /** Another one shows the fields anew, with what is typed in them gone. */
  const [round, setRound] = useState(0);
  const [theirs, setTheirs] = useState<ConsoleAnswer<User>>();
  const save = useWrite(putUser);
  const changed = Object.keys(changedFields(valuesOf(fields, base.user), edits)).length;
  const now = changed === 0 ? { user: current, etag: read.etag } : base;
  const before = valuesOf(fields, now.user);
  const changes = changedFields(before, edits);
  const params = { realm, userId: current.id };

  const edit = (name: string, value: unknown) => {
    if (changed === 0) setBase(now);
    setEdits((all) => ({ ...all, [name]: value }));
  };
  const discard = () => {
    setRound(round + 1);
    setEdits({});
    setFaults(new Map());
    save.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setFaults(new Map());
    save.mutate(
      {
        params,
        body: bodyOf(fields, now.user, changes),
        ...(now.etag !== undefined && { headers: { 'if-match': now.etag } }),
      },
      {
        onSuccess: (answer) => {
          if (answer.body) setBase({ user: answer.body, etag: answer.etag });
          setEdits({});
          setRound(round + 1);
          say('Saved the profile.');
        },
        onError: (problem) => {
          if (problem.is('precondition-failed')) void call(getUser, { params }).then(setTheirs);
          else setFaults(faultsOf(problem));
        },
      },
    );
  };
  return (
    <form className="form" onSubmit={submit} noValidate>
      {faults.size > 0 && <FaultNote faults={faults} problem={save.error} />}
      {save.error && !theirs && !isOfFields(save.error) && <ProblemNote problem={save.error} />}
      {!mayWrite && <Note>You may read users. Changing them needs the permission users:write.</Note>}
      <Panel title="Profile" plain>
        <UserFields
          key={round}
          realm={realm}
          fields={fields}
          values={{ ...before, ...edits }}
          faults={faults}
          onEdit={edit}
          isDisabled={!mayWrite}
        />
      </Panel>
      {mayWrite && (
        <div className="form-actions">
          <span className="said" role="status">
            {Object.keys(changes).length === 0
              ? 'Nothing is changed yet.'
              : `${count(Object.keys(changes).length, 'field is', 'fields are')} changed.`}
          </span>
          {Object.keys(changes).length > 0 && (
            <>
              <AsCommand quiet commands={() => requestCommands(putUser, params, bodyOf(fields, now.user, changes))} />
              <Button onPress={discard}>Discard</Button>
            </>
          )}
          <Button type="submit" variant="primary" isDisabled={Object.keys(changes).length === 0 || save.isPending}>
            {save.isPending ? 'Saving…' : 'Save'}
          </Button>
        </div>
      )}
      {theirs?.body && (
        <Suspense>
          <Merge
            fields={[...fields, { name: 'emailVerified', label: 'The address is verified' }]}
            base={before}
            mine={changes}
            theirs={valuesOf(fields, theirs.body)}
            onClose={() => setTheirs(undefined)}
            onMerged={(merged) => {
              if (theirs.body) setBase({ user: theirs.body, etag: theirs.etag });
              setEdits(merged);
              setRound(round + 1);
              setTheirs(undefined);
              save.reset();
            }}
          />
        </Suspense>
      )}
    </form>
  );
}
