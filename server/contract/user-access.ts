// A user's sign-in state: whether too many failures have locked the account, and the user's sessions. Specification 2.3
// (lockout), 4.10; decisions "Session", "Single sign-on and freshness".
import { z } from 'zod';
import { EpochMs, Id, Page, RealmName } from './names.ts';
import { route } from './route.ts';
import { Session } from './sessions.ts';

const at = '/admin/realms/:realm/users/:userId' as const;
const ByUser = z.strictObject({ realm: RealmName, userId: Id });
const tag = 'users';

export const Lockout = z
  .object({
    locked: z.boolean().describe('Right passwords are refused, too'),
    failures: z.int().describe('Since the last success, or since a lock was over'),
    lastFailureAt: EpochMs.nullable(),
    lockedUntil: EpochMs.nullable().describe('null: not locked'),
    rule: z
      .enum(['failed-attempts', 'codes-of-a-day'])
      .nullable()
      .describe(
        'What locks the user: `maxLoginFailures` of the realm or ten wrong codes, or thirty wrong codes in a day',
      ),
  })
  .meta({ id: 'Lockout' });
export type Lockout = z.infer<typeof Lockout>;

export const getLockout = route({
  method: 'GET',
  path: `${at}/lockout`,
  tag,
  summary: 'Whether failed sign-ins have locked a user',
  permission: 'users:read',
  reach: { user: 'userId' },
  params: ByUser,
  response: Lockout,
  problems: ['not-found'],
});
export const deleteLockout = route({
  method: 'DELETE',
  path: `${at}/lockout`,
  tag,
  summary: 'Forget the failed sign-ins of a user, and unlock them',
  permission: 'users:write',
  reach: { user: 'userId' },
  params: ByUser,
  status: 204,
  problems: ['not-found', 'privilege-escalation'],
});
export const impersonateUser = route({
  method: 'POST',
  path: `${at}/impersonate`,
  tag,
  summary: 'Act as a user for half an hour at most',
  description:
    'Answers an address of the realm that works once, within a minute: whoever opens it in a browser is signed in as the user. Such a session proves no factor of the person: it can’t agree to anything, gets no offline tokens, no admin rights and nothing that asks for a sign-in of its own, and changes nothing in the account. Its tokens say in `act` who acts, the pages say so, and the audit log names both.',
  permission: 'users:impersonate',
  params: ByUser,
  response: z.object({
    url: z.string().describe('To be opened in a browser'),
    sessionId: Id,
    expiresAt: EpochMs.describe('When the session ends by itself'),
  }),
  problems: ['not-found', 'wrong-state', 'forbidden', 'privilege-escalation'],
});
export const listUserSessions = route({
  method: 'GET',
  path: `${at}/sessions`,
  tag,
  summary: 'Live sessions of a user, newest first',
  permission: 'sessions:read',
  reach: { user: 'userId' },
  params: ByUser,
  query: Page,
  response: z.array(Session),
  problems: ['not-found'],
});
export const endUserSessions = route({
  method: 'DELETE',
  path: `${at}/sessions`,
  tag,
  summary: 'End all sessions of a user',
  description:
    'With all tokens, offline ones and administrators’ sessions included, as if their access had been taken away; they can sign in anew.',
  permission: 'sessions:write',
  reach: { user: 'userId' },
  params: ByUser,
  status: 204,
  problems: ['not-found', 'privilege-escalation'],
});
