// Asks before an action on many users, shows how far it is, and which users it failed for.
import { useEffect, useRef, useState } from 'react';
import { readAnew } from '../../api/queries.ts';
import { ReferenceField } from '../../kinds/reference-field.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Progress } from '../../ui/progress.tsx';
import { Note } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { say } from '../../ui/toast.tsx';
import { ActionChoice } from './action-choice.tsx';
import { type BulkAction, type Choice, type Failure, runForAll } from './bulk-actions.ts';
import { count } from './words.ts';

const NAMED = 10;
/** Actions after which a user is gone are confirmed by a number that is typed. */
const TYPED = new Set(['delete', 'erase']);

export default function BulkDialog({
  realm,
  users,
  action,
  onClose,
}: {
  realm: string;
  users: ReadonlyMap<string, string>;
  action: BulkAction;
  /** @param isDone the selection is dealt with */
  onClose: (isDone: boolean) => void;
}) {
  const [choice, setChoice] = useState<Choice>({ group: null, requiredActions: [] });
  const [typed, setTyped] = useState('');
  const [done, setDone] = useState<number>();
  const [failures, setFailures] = useState<Failure[]>();
  const stop = useRef(new AbortController());
  useEffect(() => {
    const { current } = stop;
    return () => current.abort();
  }, []);
  const isRunning = done !== undefined && failures === undefined;
  const lacks =
    (action.needs === 'group' && choice.group === null) ||
    (action.needs === 'requiredActions' && choice.requiredActions.length === 0) ||
    (TYPED.has(action.id) && typed !== String(users.size));
  const run = async () => {
    setDone(0);
    const failed = await runForAll(users, (userId) => action.run({ realm, userId }, choice), {
      onProgress: setDone,
      signal: stop.current.signal,
    });
    await readAnew(realm);
    if (failed.length === 0 && !stop.current.signal.aborted) {
      say(`${action.label}: done for ${count(users.size, 'user')}.`);
      onClose(true);
      return;
    }
    setFailures(failed);
  };
  const names = [...users.values()];
  return (
    <Dialog
      title={`${action.label}: ${count(users.size, 'user')}`}
      isOpen
      alert
      size="wide"
      {...(!isRunning && { onClose: () => onClose(failures !== undefined) })}
      footer={
        failures ? (
          <Button variant="primary" onPress={() => onClose(true)}>
            Close
          </Button>
        ) : isRunning ? (
          <Button onPress={() => stop.current.abort()}>Stop</Button>
        ) : (
          <>
            <Button onPress={() => onClose(false)}>Cancel</Button>
            <Button
              variant={action.isDanger ? 'danger primary' : 'primary'}
              isDisabled={lacks}
              onPress={() => void run()}
            >
              {action.label}
            </Button>
          </>
        )
      }
    >
      {done === undefined && (
        <>
          <p>{action.help}</p>
          <p className="soft">
            {names.slice(0, NAMED).map((name, at) => (
              <span key={name}>
                {at > 0 && ', '}
                <bdi>{name}</bdi>
              </span>
            ))}
            {names.length > NAMED && ` and ${names.length - NAMED} more`}
          </p>
          {action.needs === 'group' && (
            <ReferenceField
              realm={realm}
              kind="group"
              label="Group"
              byId
              value={choice.group}
              onChange={(group) => setChoice({ ...choice, group })}
            />
          )}
          {action.needs === 'requiredActions' && (
            <ActionChoice
              label="At the next sign-in the users must"
              value={choice.requiredActions}
              onChange={(requiredActions) => setChoice({ ...choice, requiredActions })}
            />
          )}
          {TYPED.has(action.id) && (
            <TextField label={`Type ${users.size} to confirm`} value={typed} onChange={setTyped} mono />
          )}
        </>
      )}
      {isRunning && <Progress label={`${action.label}: working…`} done={done} all={users.size} />}
      {failures && (
        <>
          <Note tone={failures.length === 0 ? 'info' : 'bad'} live>
            {failures.length > 0
              ? `Done for ${count((done ?? 0) - failures.length, 'user')}; refused for ${count(failures.length, 'user')}.`
              : `Stopped after ${count(done ?? 0, 'user')}.`}
          </Note>
          {failures.length > 0 && (
            <Table
              label="Users for whom it was refused"
              rows={failures}
              idOf={({ userId }) => userId}
              columns={[
                { id: 'username', head: 'username', cell: ({ username }) => <bdi>{username}</bdi> },
                { id: 'message', head: 'why', cell: ({ message }) => message },
              ]}
            />
          )}
        </>
      )}
    </Dialog>
  );
}
