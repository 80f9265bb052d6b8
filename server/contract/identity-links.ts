// A user's links to accounts at the realm's identity providers. Decisions "Identity provider", "Single sign-on and freshness".
import { z } from 'zod';
import { EpochMs, Id, RealmName } from './names.ts';
import { route } from './route.ts';

export const IdentityLink = z
  .object({
    id: Id,
    identityProvider: z.string().describe('The alias'),
    displayName: z.string().describe('What people know the provider by'),
    subject: z.string().describe('Who the user is there'),
    name: z.string().nullable().describe('What they are called there'),
    linkedAt: EpochMs,
    lastUsedAt: EpochMs.nullable().describe(
      'Or when it came with a realm document; null: no sign-in by it has come to its end',
    ),
  })
  .meta({ id: 'IdentityLink' });
export type IdentityLink = z.infer<typeof IdentityLink>;

const at = '/admin/realms/:realm/users/:userId/identities' as const;
const ByUser = z.strictObject({ realm: RealmName, userId: Id });
const tag = 'users';

export const listIdentityLinks = route({
  method: 'GET',
  path: at,
  tag,
  summary: 'By which identity providers a user signs in, and who they are there',
  permission: 'users:read',
  params: ByUser,
  response: z.array(IdentityLink),
  problems: ['not-found'],
});
export const deleteIdentityLink = route({
  method: 'DELETE',
  path: `${at}/:id`,
  tag,
  summary: 'Disconnect a user from an identity provider',
  description:
    'Ends all sessions and tokens of the user. Links are made by people as they sign in, and by realm documents.',
  permission: 'users:write',
  params: ByUser.extend({ id: Id }),
  status: 204,
  problems: ['not-found', 'privilege-escalation', 'last-administrator'],
});

export const readProviderToken = route({
  method: 'GET',
  path: '/realms/:realm/account/identities/:alias/token',
  operationId: 'readProviderToken',
  tag,
  summary: 'Read your access token of an identity provider',
  description:
    'By an access token with the scope `account` of a client that the provider’s `tokenReaders` names, while the provider has `storeToken`. Each reading is in the audit log.',
  permission: null,
  principal: 'person',
  params: z.strictObject({ realm: RealmName, alias: z.string().min(1).max(255) }),
  response: z.object({
    accessToken: z.string(),
    tokenType: z.literal('Bearer'),
    scope: z.string().nullable().describe('As the provider said'),
    expiresAt: EpochMs.nullable(),
  }),
  problems: ['not-found', 'forbidden'],
});
