// Grants that outlive the session in which they began (`offline_access`), for users about themselves, and for
// administrators. OIDC Core §11; specification 4.10, 4.11.
import { z } from 'zod';
import { accountPath, ofOwnAccount } from './account.ts';
import { EpochMs, Id, Page, RealmName } from './names.ts';
import { route } from './route.ts';

export const OfflineSession = z
  .object({
    id: Id,
    clientId: z.string(),
    clientName: z.string().nullable(),
    scopes: z.array(z.string()),
    startedAt: EpochMs,
    lastRefreshedAt: EpochMs.nullable().describe('When the client last got tokens by it; null: not since it began'),
    expiresAt: EpochMs.describe('When it ends, unless the client refreshes it before'),
  })
  .meta({ id: 'OfflineSession' });
export type OfflineSession = z.infer<typeof OfflineSession>;

const OfUser = z.strictObject({ realm: RealmName, userId: Id });
const ofUser = '/admin/realms/:realm/users/:userId/offline-sessions' as const;
const tag = 'sessions';

export const listOfflineSessions = route({
  method: 'GET',
  path: ofUser,
  tag,
  summary: 'List what applications may do for a person while they are signed out, newest first',
  permission: 'sessions:read',
  params: OfUser,
  query: Page,
  response: z.array(OfflineSession),
  problems: ['not-found'],
});
export const endOfflineSession = route({
  method: 'DELETE',
  path: `${ofUser}/:id`,
  tag,
  summary: 'End one of them, with its refresh and access tokens',
  permission: 'sessions:write',
  params: OfUser.extend({ id: Id }),
  status: 204,
  problems: ['not-found', 'privilege-escalation'],
});

export const listOwnOfflineSessions = route({
  ...ofOwnAccount,
  method: 'GET',
  path: `${accountPath}/offline-sessions`,
  operationId: 'listOwnOfflineSessions',
  summary: 'Which applications may act for you while you are signed out, newest first; at most 100',
  response: z.array(OfflineSession),
});
export const endOwnOfflineSession = route({
  ...ofOwnAccount,
  method: 'DELETE',
  path: `${accountPath}/offline-sessions/:id`,
  operationId: 'endOwnOfflineSession',
  summary: 'End one of them, with its tokens',
  params: z.strictObject({ realm: RealmName, id: Id }),
  status: 204,
  problems: ['not-found'],
});
