// Lists for administrators: things that end soon in a realm, and clients without use. Decisions "Lists".
import { z } from 'zod';
import { EpochMs, Id, InRealm, Page } from './names.ts';
import { route } from './route.ts';

const tag = 'expiring';
const at = '/admin/realms/:realm' as const;

export const expiringKinds = [
  'client-secret',
  'key-certificate',
  'saml-client-certificate',
  'invitation',
  'initial-access-token',
  'scim-token',
  'agent',
  'agent-review',
] as const;
export const ExpiringKind = z.enum(expiringKinds);
export type ExpiringKind = z.infer<typeof ExpiringKind>;

export const ExpiringThing = z
  .object({
    kind: ExpiringKind,
    id: Id.describe('The id of the object that it belongs to'),
    name: z.string(),
    expiresAt: EpochMs,
    expired: z.boolean(),
    message: z.string().describe('What ends, in words'),
  })
  .meta({ id: 'ExpiringThing' });
export type ExpiringThing = z.infer<typeof ExpiringThing>;

export const listExpiring = route({
  method: 'GET',
  path: `${at}/expiring`,
  operationId: 'listExpiring',
  tag,
  summary: 'What ends soon: secrets, certificates, invitations, tokens, agents and their reviews',
  description:
    'The soonest first. Each kind needs its own read permission: `clients:read` (client-secret, initial-access-token), `keys:read`, `saml-clients:read`, `users:read` (invitation, scim-token), `agents:read` (agent, agent-review); without any of them 403. A client’s secret ends only where a newer one replaced it with a grace period; it is listed for a week after that.',
  permission: null,
  params: InRealm,
  query: z.strictObject({
    days: z.coerce.number().int().min(0).max(3650).default(30).describe('Ends within so many days, or has ended'),
    limit: z.coerce.number().int().min(1).max(1000).default(1000).describe('At most this many, the soonest'),
  }),
  response: z.array(ExpiringThing),
  problems: ['forbidden', 'not-found'],
});

export const ClientUse = z
  .object({
    id: Id,
    clientId: z.string(),
    name: z.string().nullable(),
    enabled: z.boolean(),
    lastUsedAt: EpochMs.nullable().describe('The hour of its last token; null: it got none since `countedSince`'),
    countedSince: EpochMs.describe('Since when its tokens are noted: it was created then, or the server upgraded'),
  })
  .meta({ id: 'ClientUse' });
export type ClientUse = z.infer<typeof ClientUse>;

export const listUnusedClients = route({
  method: 'GET',
  path: `${at}/unused-clients`,
  tag,
  summary: 'Clients that got no token for some days, by clientId',
  description:
    'The server notes the hour of each client’s last token. A client whose tokens are noted for less than `days` is not listed. These are all clients; `GET …/provisioning/unused-clients` lists only those that registered themselves or came by a metadata document, and looks into the audit log.',
  permission: 'clients:read',
  reach: 'rows',
  params: InRealm,
  query: Page.extend({
    days: z.coerce.number().int().min(1).max(3650).default(90).describe('Got no token for so many days'),
  }),
  response: z.array(ClientUse),
});
