// The users who belong to something: an organization, a group. They are run-time data: added at once, and taken out after a question.
import { type ReactNode, useState } from 'react';
import { call } from '../api/client.ts';
import type { LightRoute } from '../api/light.ts';
import { readAnew, useRead, useWrite } from '../api/queries.ts';
import { useMay } from '../api/session.ts';
import { inRealm } from '../shell/addresses.ts';
import { AsCommand } from '../ui/as-command.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useFilters } from '../ui/filters.ts';
import { Pager } from '../ui/pager.tsx';
import { Empty, Loading, ProblemNote } from '../ui/state.tsx';
import { Table, type TableColumn } from '../ui/table.tsx';
import { say } from '../ui/toast.tsx';
import { allCommands, requestCommands } from './commands.ts';
import { UserField } from './user-field.tsx';

export interface MemberRow {
  id: string;
  username: string;
  email: string | null;
  firstName: string | null;
  lastName: string | null;
  enabled: boolean;
}
const PAGE_ROWS = 50;

const columns: readonly TableColumn<MemberRow>[] = [
  { id: 'username', head: 'username', cell: ({ username }) => <bdi>{username}</bdi> },
  {
    id: 'name',
    head: 'name',
    cell: ({ firstName, lastName }) => <bdi>{[firstName, lastName].filter(Boolean).join(' ') || '–'}</bdi>,
  },
  { id: 'email', head: 'e-mail', cell: ({ email }) => <bdi>{email ?? '–'}</bdi> },
  {
    id: 'enabled',
    head: 'state',
    cell: ({ enabled }) => <Badge tone={enabled ? 'good' : 'warn'}>{enabled ? 'enabled' : 'disabled'}</Badge>,
  },
];

export interface UserMembersProps<T extends MemberRow> {
  realm: string;
  /** Of what they belong to; the routes call it `id`. */
  id: string;
  name: string;
  /** `member`, `user` */
  one: string;
  /** Each has the parameters `realm` and `id`; the last two `userId` too. */
  routes: { list: LightRoute; add: LightRoute; remove: LightRoute };
  more?: readonly TableColumn<T>[];
  isWriter: boolean;
  /** The text where there are none. */
  empty: { title: string; words: string };
  /** The effect on a user who is taken out. */
  consequence: ReactNode;
}

export function UserMembers<T extends MemberRow>(props: UserMembersProps<T>) {
  const { realm, id, name, one, routes, more = [], isWriter, empty } = props;
  const may = useMay();
  const cursor = useFilters().get('cursor');
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [asks, setAsks] = useState<'add' | 'remove'>();
  const members = useRead(
    routes.list,
    { params: { realm, id }, query: { limit: PAGE_ROWS, ...(cursor !== '' && { cursor }) } },
    { keep: true },
  );
  const rows = (members.data?.body ?? []) as T[];
  const { nextCursor } = members.data ?? {};
  return (
    <div className="stack">
      <div className="row between">
        <span className="row">
          {isWriter && selected.size > 0 && (
            <Button variant="danger" onPress={() => setAsks('remove')}>
              Take {selected.size === 1 ? `the ${one}` : `${selected.size} ${one}s`} out
            </Button>
          )}
        </span>
        <span className="row">
          <AsCommand quiet commands={() => requestCommands(routes.list, { realm, id })} />
          {isWriter && (
            <Button icon="add" onPress={() => setAsks('add')}>
              Add a {one}
            </Button>
          )}
        </span>
      </div>
      {members.error && <ProblemNote problem={members.error} retry={() => void members.refetch()} />}
      {!members.data ? (
        !members.error && <Loading lines={5} />
      ) : rows.length === 0 && cursor === '' ? (
        <div className="panel">
          <Empty icon="user" title={empty.title}>
            <p>{empty.words}</p>
          </Empty>
        </div>
      ) : (
        <>
          <Table<T>
            label={`Members of ${name}`}
            columns={[...columns, ...more]}
            rows={rows}
            idOf={(member) => member.id}
            {...(may.partly(realm, 'users:read') && { to: (member: T) => inRealm(realm, 'users', member.id) })}
            {...(isWriter && { selected, onSelect: setSelected })}
            stale={members.isPlaceholderData}
          />
          <Pager shown={rows.length} total={members.data.total} nextCursor={nextCursor} />
        </>
      )}
      {asks === 'add' && <Add {...props} onClose={() => setAsks(undefined)} />}
      {asks === 'remove' && (
        <Remove
          {...props}
          members={rows.filter((member) => selected.has(member.id))}
          onClose={(isDone) => {
            setAsks(undefined);
            if (isDone) setSelected(new Set());
          }}
        />
      )}
    </div>
  );
}

function Add<T extends MemberRow>({
  realm,
  id,
  name,
  one,
  routes,
  onClose,
}: UserMembersProps<T> & { onClose: () => void }) {
  const [userId, setUserId] = useState<string | null>(null);
  const [username, setUsername] = useState('');
  const add = useWrite(routes.add);
  const params = { realm, id, userId: userId ?? '' };
  return (
    <Dialog
      title={`Add a ${one} to ${name}`}
      isOpen
      onClose={onClose}
      footer={
        <>
          {userId !== null && <AsCommand quiet commands={() => requestCommands(routes.add, params)} />}
          <Button onPress={onClose}>Cancel</Button>
          <Button
            variant="primary"
            isDisabled={userId === null || add.isPending}
            onPress={() =>
              add.mutate(
                { params },
                {
                  onSuccess: () => {
                    onClose();
                    say(`Added ${username || 'the user'} to ${name}.`);
                  },
                },
              )
            }
          >
            Add the {one}
          </Button>
        </>
      }
    >
      {add.error && <ProblemNote problem={add.error} />}
      <UserField
        realm={realm}
        label="User"
        help="For a user who is in it already nothing changes."
        value={userId}
        onChange={(chosen, user) => {
          setUserId(chosen);
          setUsername(user?.username ?? '');
        }}
      />
    </Dialog>
  );
}

function Remove<T extends MemberRow>({
  realm,
  id,
  one,
  routes,
  consequence,
  members,
  onClose,
}: UserMembersProps<T> & { members: readonly T[]; onClose: (isDone: boolean) => void }) {
  const [problem, setProblem] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const remove = async () => {
    setBusy(true);
    try {
      for (const { id: userId } of members) await call(routes.remove, { params: { realm, id, userId } });
      say(members.length === 1 ? `Took ${members[0]?.username} out.` : `Took ${members.length} ${one}s out.`);
      onClose(true);
    } catch (cause) {
      setProblem(cause);
    } finally {
      setBusy(false);
      await readAnew(realm);
    }
  };
  return (
    <Confirm
      title={members.length === 1 ? `Take ${members[0]?.username} out?` : `Take ${members.length} ${one}s out?`}
      action="Take out"
      busy={busy}
      problem={problem}
      commands={() =>
        allCommands(members.map(({ id: userId }) => requestCommands(routes.remove, { realm, id, userId })))
      }
      onConfirm={() => void remove()}
      onClose={() => onClose(false)}
    >
      <p>{consequence}</p>
    </Confirm>
  );
}
