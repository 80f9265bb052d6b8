// The actions on many users, each by the operations that the API has for one.
import type { Permission } from '../../../server/contract/permissions.ts';
import { call } from '../../api/client.ts';
import {
  addGroupMember,
  deleteLockout,
  deleteUser,
  endUserSessions,
  eraseUser,
  getRequiredActions,
  putRequiredActions,
  putUser,
  removeGroupMember,
} from '../../generated/routes.ts';
import type { IconName } from '../../ui/icons.tsx';
import { allActions, type RequiredAction } from './words.ts';

/** The administrator's choices for an action. */
export interface Choice {
  /** The id of a group. */
  group: string | null;
  requiredActions: readonly RequiredAction[];
}

export interface BulkAction {
  id: string;
  label: string;
  icon: IconName;
  permission: Permission;
  /** The permission has to be held over the realm, not for single groups. */
  wholeRealm?: true;
  isDanger?: true;
  needs?: keyof Choice;
  /** Its effect on each user. */
  help: string;
  run(user: { realm: string; userId: string }, choice: Choice): Promise<unknown>;
}

const write = { permission: 'users:write' } as const;

export const bulkActions: readonly BulkAction[] = [
  {
    ...write,
    id: 'enable',
    label: 'Enable',
    icon: 'check',
    help: 'The users can sign in again.',
    run: (params) => call(putUser, { params, body: { enabled: true } }),
  },
  {
    ...write,
    id: 'disable',
    label: 'Disable',
    icon: 'close',
    isDanger: true,
    help: 'All their sessions and tokens end, and they can’t sign in until an administrator enables them.',
    run: (params) => call(putUser, { params, body: { enabled: false } }),
  },
  {
    ...write,
    id: 'unlock',
    label: 'Unlock',
    icon: 'key',
    help: 'The server forgets their failed sign-ins.',
    run: (params) => call(deleteLockout, { params }),
  },
  {
    permission: 'sessions:write',
    id: 'end-sessions',
    label: 'End all sessions',
    icon: 'signOut',
    isDanger: true,
    help: 'Their tokens end too, those for offline access included. They can sign in again.',
    run: (params) => call(endUserSessions, { params }),
  },
  {
    ...write,
    id: 'require',
    label: 'Require actions',
    icon: 'edit',
    needs: 'requiredActions',
    help: 'The actions are added to those that each user has already.',
    run: async (params, { requiredActions }) => {
      const { body, etag } = await call(getRequiredActions, { params });
      const had = body?.requiredActions ?? [];
      const all = allActions.filter((action) => had.includes(action) || requiredActions.includes(action));
      if (all.length === had.length) return;
      await call(putRequiredActions, {
        params,
        body: { requiredActions: all },
        ...(etag !== undefined && { headers: { 'if-match': etag } }),
      });
    },
  },
  {
    ...write,
    id: 'join',
    label: 'Add to a group',
    icon: 'group',
    needs: 'group',
    help: 'A user who is in the group already stays in it.',
    run: (params, { group }) => call(addGroupMember, { params: { ...params, id: group ?? '' } }),
  },
  {
    ...write,
    id: 'leave',
    label: 'Take out of a group',
    icon: 'group',
    needs: 'group',
    help: 'They lose the roles that they have by the group alone.',
    run: (params, { group }) => call(removeGroupMember, { params: { ...params, id: group ?? '' } }),
  },
  {
    ...write,
    id: 'delete',
    label: 'Delete',
    icon: 'delete',
    isDanger: true,
    help: 'The users, their sessions and credentials are deleted. This can’t be undone.',
    run: (params) => call(deleteUser, { params }),
  },
  {
    ...write,
    wholeRealm: true,
    id: 'erase',
    label: 'Erase',
    icon: 'delete',
    isDanger: true,
    help: 'The users are deleted, and pseudonyms take their place in the audit log. This can’t be undone.',
    run: (params) => call(eraseUser, { params }),
  },
];

export interface Failure {
  userId: string;
  username: string;
  message: string;
}

/** Requests at the same time. */
const AT_ONCE = 4;

/**
 * Runs the action for each user; a failure stops no other one.
 * @param onProgress is told how many are done
 */
export async function runForAll(
  users: ReadonlyMap<string, string>,
  work: (userId: string) => Promise<unknown>,
  { onProgress, signal }: { onProgress: (done: number) => void; signal: AbortSignal },
): Promise<Failure[]> {
  const waiting = [...users];
  const failures: Failure[] = [];
  let done = 0;
  const worker = async () => {
    for (let next = waiting.shift(); next && !signal.aborted; next = waiting.shift()) {
      const [userId, username] = next;
      try {
        await work(userId);
      } catch (cause) {
        failures.push({ userId, username, message: cause instanceof Error ? cause.message : String(cause) });
      }
      done += 1;
      onProgress(done);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return failures;
}
