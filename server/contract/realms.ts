// Realms as objects. Decisions "Realms" and "Import, export, plan" (revision, adoption); specification 4.2.
import { z } from 'zod';
import { EpochMs, HIDES, hasHiddenCharacters, InRealm, name, Page, RealmName, text } from './names.ts';
import { route } from './route.ts';

/** The realm that always exists; its users can hold admin roles over every realm. */
export const MASTER = 'master';

export const RealmSummary = z
  .object({
    realm: RealmName,
    displayName: z.string(),
    revision: z.int().describe('Raised by each configuration write'),
  })
  .meta({ id: 'RealmSummary' });
export type RealmSummary = z.infer<typeof RealmSummary>;
export const Realm = RealmSummary.extend({
  issuer: z.string(),
  createdAt: EpochMs,
  declaredOnly: z.array(z.string()).describe('Sections that only documents change, by the setting of that name'),
}).meta({ id: 'Realm' });
export type Realm = z.infer<typeof Realm>;

const tag = 'realms';
export const listRealms = route({
  method: 'GET',
  path: '/admin/realms',
  tag,
  summary: 'List the realms that the caller may read, with their revisions',
  description:
    'Carries an ETag: a conditional request answers 304 while no realm has changed; with `q`, while none of the page has. `limit` is at most 10000 here.',
  permission: null,
  query: Page.extend({
    limit: z.coerce.number().int().min(1).max(10_000).default(1000),
    q: text(255)
      .optional()
      .describe('Text that is in the name or the display name; the ETag is then of the page’s realms alone'),
  }),
  response: z.array(RealmSummary),
});
export const createRealm = route({
  method: 'POST',
  path: '/admin/realms',
  tag,
  summary: 'Create a realm, seeded with keys, the browser flow and the built-in roles',
  permission: null,
  description: 'Needs the permission `realm:create`, which only an administrator of `master` can hold.',
  body: z.strictObject({
    realm: RealmName,
    displayName: name(200)
      .refine((s) => !hasHiddenCharacters(s), HIDES)
      .optional(),
  }),
  example: { realm: 'acme', displayName: 'Acme' },
  status: 201,
  response: Realm,
  problems: ['name-taken', 'being-deleted', 'forbidden'],
});
export const getRealm = route({
  method: 'GET',
  path: '/admin/realms/:realm',
  tag,
  summary: 'Read a realm',
  permission: 'realm:read',
  params: InRealm,
  response: Realm,
  problems: ['not-found'],
});
export const deleteRealm = route({
  method: 'DELETE',
  path: '/admin/realms/:realm',
  tag,
  summary: 'Delete a realm with everything in it',
  description:
    'The realm answers nothing more at once. Where it holds very much, the answer is 202: the server goes on to remove it, and its name can be used again when it is gone.',
  permission: 'realm:delete',
  params: InRealm,
  status: 204,
  mayTakeLonger: true,
  problems: ['not-found', 'realm-protected', 'precondition-failed'],
});

export const Endpoints = z
  .object({
    issuer: z.string(),
    discovery: z.string(),
    authorization: z.string(),
    token: z.string(),
    userinfo: z.string(),
    jwks: z.string(),
    pushedAuthorizationRequest: z.string(),
    deviceAuthorization: z.string(),
    revocation: z.string(),
    introspection: z.string(),
    endSession: z.string(),
    registration: z.string(),
    workloadIdentityToken: z.string(),
    account: z.string(),
    resourceRegistration: z.string(),
    permission: z.string(),
    samlMetadata: z.string(),
    samlSignOn: z.string(),
    samlLogout: z.string(),
    scim: z.string(),
  })
  .meta({ id: 'RealmEndpoints' });
export const getEndpoints = route({
  method: 'GET',
  path: '/admin/realms/:realm/endpoints',
  tag,
  summary: 'The realm’s addresses',
  permission: 'realm:read',
  params: InRealm,
  response: Endpoints,
});
export const RealmHealth = z
  .object({
    status: z.enum(['UP', 'DOWN']),
    components: z.record(
      z.string(),
      z.object({ status: z.enum(['UP', 'DOWN']), details: z.record(z.string(), z.unknown()).optional() }),
    ),
  })
  .meta({ id: 'RealmHealth' });
export const getRealmHealth = route({
  method: 'GET',
  path: '/admin/realms/:realm/health',
  tag,
  operationId: 'getRealmHealth',
  summary: 'Can this realm sign people in, and do its messages and webhooks arrive?',
  permission: 'realm:read',
  params: InRealm,
  response: RealmHealth,
});

// A manager's name with * for any run of characters, such as k8s:prod/identity/* (decisions, Tenancy).
const managers = z.array(name(500)).max(100);
export const Adoption = z
  .object({
    managers,
    createdBy: z.string().describe('The manager whose import created the realm; empty: a person or the server'),
  })
  .meta({ id: 'Adoption' });
export type Adoption = z.infer<typeof Adoption>;
export const AdoptionInput = z.strictObject({ managers });
export const getAdoption = route({
  method: 'GET',
  path: '/admin/realms/:realm/adoption',
  tag,
  summary: 'Which managers may adopt this realm',
  permission: 'realm:read',
  params: InRealm,
  response: Adoption,
});
export const putAdoption = route({
  method: 'PUT',
  path: '/admin/realms/:realm/adoption',
  tag,
  summary: 'Allow managers to adopt this realm',
  description:
    'Whoever adopts the realm may do everything in it, so only who holds every permission over it can let somebody more.',
  permission: 'realm:write',
  params: InRealm,
  body: AdoptionInput,
  example: { managers: ['k8s:prod/identity/*'] },
  response: Adoption,
  problems: ['precondition-failed', 'privilege-escalation'],
});
export const getFormerRealm = route({
  method: 'GET',
  path: '/admin/former-realms/:name',
  tag,
  summary: 'Who made a realm that was deleted, and who could adopt it',
  description: 'Whoever makes realms for others gives the name to nobody else. Needs the permission `realm:create`.',
  permission: null,
  params: z.strictObject({ name: RealmName }),
  response: Adoption,
  problems: ['not-found', 'forbidden'],
});
