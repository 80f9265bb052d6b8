// The one event registry: audit, webhooks and SIEM share its names. `configuration` events raise the realm's revision.
// server/events writes and delivers them. Specification section 6; decisions "Webhooks".
import { z } from 'zod';
import { ById, EpochMs, EpochMsParameter, Id, InRealm, name, Page, RealmName } from './names.ts';
import { route } from './route.ts';
import { type SectionEvent, sectionEvents } from './section-names.ts';

const configuration = { configuration: true } as const;
const runtime = { configuration: false } as const;

/** `WEBHOOK_CREATED`, `WEBHOOK_UPDATED`, `WEBHOOK_DELETED` and so on. */
const ofSections = Object.fromEntries(
  [...sectionEvents.values()].flatMap((events) => Object.values(events).map((type) => [type, configuration])),
) as Record<SectionEvent, typeof configuration>;

export const eventTypes = {
  LOGIN_SUCCESS: runtime,
  LOGIN_FAILURE: runtime,
  LOGOUT: runtime,
  SIGN_IN_REPORTED: runtime,
  BROWSER_FORGOTTEN: runtime,
  ADMIN_LOGIN_SUCCESS: runtime,
  ADMIN_LOGIN_FAILURE: runtime,
  ADMIN_LOGOUT: runtime,
  ACCESS_DENIED: runtime,
  MFA_CHALLENGE: runtime,
  CREDENTIAL_CREATED: runtime,
  CREDENTIAL_DELETED: runtime,
  GLOBAL_TOKEN_REVOCATION: runtime,
  PASSKEY_REFUSED: runtime,
  AUTHENTICATOR_COMPROMISED: runtime,
  IDENTITY_LINKED: runtime,
  IDENTITY_UNLINKED: runtime,
  IDENTITY_TOKEN_READ: runtime,
  SAML_METADATA_REFUSED: runtime,
  RECOVERY_CODE_USED: runtime,
  ENROLMENT_LINK_CREATED: runtime,
  ENROLMENT_LINK_USED: runtime,
  ENROLMENT_LINK_ENDED: runtime,
  DEVICE_ENROLMENT_OFFERED: runtime,
  DEVICE_ENROLMENT_USED: runtime,
  PUSH_REQUESTED: runtime,
  PUSH_APPROVED: runtime,
  PUSH_DENIED: runtime,
  QR_CONFIRMED: runtime,
  TRANSACTION_CREATED: runtime,
  TRANSACTION_SIGNED: runtime,
  TRANSACTION_DENIED: runtime,
  TRANSACTION_CONSUMED: runtime,
  TRANSACTION_VOID: runtime,
  PASSWORD_CHANGED: runtime,
  USER_LOCKED: runtime,
  USER_UNLOCKED: runtime,
  CODES_GUESSED: runtime,
  USER_CREATED: runtime,
  USER_UPDATED: runtime,
  USER_DELETED: runtime,
  USER_ERASED: runtime,
  USERS_IMPORTED: runtime,
  DIRECTORY_SYNC_STARTED: runtime,
  DIRECTORY_SYNCED: runtime,
  TERMS_ACCEPTED: runtime,
  CONSENT_GRANTED: runtime,
  CONSENT_REVOKED: runtime,
  DATA_EXPORTED: runtime,
  SESSION_ENDED: runtime,
  BACKCHANNEL_LOGOUT_FAILED: runtime,
  BACKCHANNEL_LOGOUT_RETRIED: runtime,
  IMPERSONATION_STARTED: runtime,
  AUTHORIZATION_REFUSED: runtime,
  AUTHORIZATION_REQUEST_PUSHED: runtime,
  CODE_ISSUED: runtime,
  BACKCHANNEL_REQUESTED: runtime,
  BACKCHANNEL_APPROVED: runtime,
  BACKCHANNEL_DENIED: runtime,
  DEVICE_AUTHORIZATION_REQUESTED: runtime,
  DEVICE_APPROVED: runtime,
  DEVICE_DENIED: runtime,
  SAML_ASSERTION_ISSUED: runtime,
  PERMISSION_REQUESTED: runtime,
  PERMISSION_GRANTED: runtime,
  ACCESS_EVALUATED: runtime,
  ACCESS_SEARCHED: runtime,
  SIGNAL_STREAM_CREATED: runtime,
  SIGNAL_STREAM_UPDATED: runtime,
  SIGNAL_STREAM_DELETED: runtime,
  SIGNALS_SENT: runtime,
  SIGNAL_DELIVERY_FAILED: runtime,
  SIGNAL_RECEIVED: runtime,
  SIGNAL_REFUSED: runtime,
  SIGNAL_TRANSMITTER_CONNECTED: runtime,
  SIGNAL_TRANSMITTER_DISCONNECTED: runtime,
  RESOURCE_REGISTERED: runtime,
  RESOURCE_UPDATED: runtime,
  RESOURCE_DELETED: runtime,
  RESOURCE_REQUESTED: runtime,
  RESOURCE_SHARED: runtime,
  RESOURCE_SHARE_ENDED: runtime,
  TOKEN_ISSUED: runtime,
  TOKEN_REFRESHED: runtime,
  TOKEN_REFUSED: runtime,
  TOKEN_REVOKED: runtime,
  TOKEN_REUSE_DETECTED: runtime,
  WORKLOAD_TOKEN_ISSUED: runtime,
  WORKLOAD_TOKEN_REFUSED: runtime,
  WEBHOOK_TEST: runtime,
  WEBHOOK_REDELIVERED: runtime,
  MESSAGE_QUEUED: runtime,
  MESSAGE_SUPPRESSED: runtime,
  MESSAGE_FAILED: runtime,
  MESSAGE_RETRIED: runtime,
  MESSAGE_TESTED: runtime,
  PUSH_TOKEN_REGISTERED: runtime,
  PUSH_TOKEN_REMOVED: runtime,
  SECRETS_RESEALED: runtime,
  DATA_KEY_ROTATED: runtime,
  REALM_BACKED_UP: runtime,
  REALM_DELETED: runtime,
  REALM_CREATED: configuration,
  REALM_IMPORTED: configuration,
  REALM_RESTORED: configuration,
  SETTINGS_UPDATED: configuration,
  KEY_ROTATED: configuration,
  KEY_DELETED: configuration,
  ...ofSections,
  CLIENT_SECRET_CREATED: configuration,
  USER_PROFILE_UPDATED: configuration,
  INITIAL_ACCESS_TOKEN_CREATED: runtime,
  INITIAL_ACCESS_TOKEN_DELETED: runtime,
  SCIM_TOKEN_CREATED: runtime,
  SCIM_TOKEN_DELETED: runtime,
  SCIM_TARGET_RECONCILED: runtime,
  AGENT_ACTIVATED: configuration,
  AGENT_SUSPENDED: configuration,
  AGENT_REVOKED: configuration,
  AGENT_REVIEWED: runtime,
  ORGANIZATION_MEMBER_ADDED: runtime,
  ORGANIZATION_MEMBER_REMOVED: runtime,
  INVITATION_SENT: runtime,
  INVITATION_REVOKED: runtime,
  INVITATION_ACCEPTED: runtime,
  ADMIN_ROLE_UPDATED: configuration,
  ADMIN_GRANT_CHANGED: runtime,
  MANAGER_RELEASED: configuration,
  MANAGERS_MOVED: configuration,
  ADOPTION_CHANGED: configuration,
  HOLD_PLACED: configuration,
  HOLD_ENDED: configuration,
  ADMIN_WRITE: runtime,
} as const satisfies Record<string, { configuration: boolean }>;

export type EventType = keyof typeof eventTypes;
export const EventTypeName = z.enum(Object.keys(eventTypes) as [EventType, ...EventType[]]);

const alsoAdminWrites = new Set<EventType>([
  'USER_CREATED',
  'USER_UPDATED',
  'USER_DELETED',
  'USER_UNLOCKED',
  'USER_ERASED',
  'USERS_IMPORTED',
  'ORGANIZATION_MEMBER_ADDED',
  'ORGANIZATION_MEMBER_REMOVED',
  'INVITATION_SENT',
  'INVITATION_REVOKED',
  'ADMIN_GRANT_CHANGED',
  'DIRECTORY_SYNC_STARTED',
  'SCIM_TOKEN_CREATED',
  'SCIM_TOKEN_DELETED',
  'AGENT_REVIEWED',
  'IMPERSONATION_STARTED',
  'ENROLMENT_LINK_CREATED',
  'ENROLMENT_LINK_ENDED',
  'REALM_DELETED',
]);
/** Whether `ADMIN_WRITE` includes this type: subscriptions and queries for it get every such change by its own name. */
export const isAdminWrite = (type: EventType): boolean => eventTypes[type].configuration || alsoAdminWrites.has(type);

/** An event's actor or its subject. */
export const Party = z.object({
  type: z.enum(['user', 'client', 'agent', 'manager', 'system', 'workload', 'realm', 'object']),
  id: z.string().nullable(),
  name: z.string().nullable(),
});
export type Party = z.infer<typeof Party>;

/** The author of a write; every service's write takes it as its first argument. */
export interface By {
  actor: Party | null;
  ipAddress: string | null;
}
/** The server itself: seeding, janitors, boot. */
export const bySystem: By = { actor: { type: 'system', id: null, name: 'server' }, ipAddress: null };

/** An event that a service records in its transaction. `data` never holds a secret. */
export interface DomainEvent {
  /** Set if the caller must know the id; otherwise a new one is assigned. */
  id?: string;
  type: EventType;
  realm: string;
  by: By;
  subject?: Party | null;
  clientId?: string | null;
  outcome?: 'success' | 'failure' | 'denied';
  data?: Record<string, unknown>;
  /** The id of the only subscription that gets the event, even without subscribing to its type (WEBHOOK_TEST). */
  receiver?: string;
  /** The `traceparent` of the work that made it, if traces are sent; deliveries of the event link to it. */
  cause?: string | undefined;
}

export const Event = z
  .object({
    id: Id,
    type: EventTypeName,
    occurredAt: EpochMs,
    realmId: RealmName,
    actor: Party.nullable(),
    subject: Party.nullable(),
    clientId: z.string().nullable(),
    ipAddress: z.string().nullable(),
    outcome: z.enum(['success', 'failure', 'denied']),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Event' });
export type Event = z.infer<typeof Event>;

export const listEvents = route({
  method: 'GET',
  path: '/admin/realms/:realm/events',
  tag: 'events',
  summary: 'Query the audit log, newest first',
  description:
    'A page may have fewer than `limit` events, or none, although `Link` names a next page: a search for events that several filters seldom have in common stops after a second. The next page goes on where it stopped. Without a next page the search has read to the end.',
  permission: 'events:read',
  params: InRealm,
  query: Page.extend({
    type: name(400)
      .optional()
      .describe('One event type, or several separated by commas; ADMIN_WRITE stands for every administrative change'),
    clientId: name().optional(),
    userId: Id.optional().describe('Events done by, or done to, this user'),
    actor: name().optional().describe('Who did it: the id or the name of a user, client, agent, manager or workload'),
    subject: name().optional().describe('What it was done to: its id or its name'),
    ipAddress: name(64).optional().describe('Where it was asked from'),
    outcome: z.enum(['success', 'failure', 'denied']).optional(),
    from: EpochMsParameter.optional().describe('Epoch milliseconds, inclusive'),
    to: EpochMsParameter.optional().describe('Epoch milliseconds, exclusive'),
  }),
  response: z.array(Event),
});

export const getEvent = route({
  method: 'GET',
  path: '/admin/realms/:realm/events/:id',
  tag: 'events',
  summary: 'Get one event of the audit log',
  permission: 'events:read',
  params: ById,
  response: Event,
  problems: ['not-found'],
});

export const listEventTypes = route({
  method: 'GET',
  path: '/admin/realms/:realm/events/types',
  tag: 'events',
  summary: 'The event types that audit and webhooks know',
  description:
    '`ADMIN_WRITE` stands for every administrative change: it is subscribed to or asked for, and each change comes by its own name.',
  permission: 'events:read',
  params: InRealm,
  response: z.array(EventTypeName),
});

const SealedBlock = z.object({
  number: z.int().describe('Of a block: the realm’s first is 1'),
  hash: z.string().describe('SHA-256 in hex, over the block and the hash of the block before'),
});
export const EventVerification = z
  .object({
    folded: SealedBlock.nullable().describe(
      'The last of the blocks that are gone because age deleted what they held; with the first blocks. null: none is gone',
    ),
    blocks: z.int().describe('Looked at by this request'),
    events: z.int().describe('In these blocks, and as they were sealed'),
    forgotten: z
      .int()
      .describe('Events that were deleted by age: of these blocks and, with the first, of those that are gone'),
    erased: z.int().describe('Blocks of these in which a person’s erasure rewrote events, as a later block says'),
    last: SealedBlock.nullable().describe('Note it elsewhere: if a later chain has it, nothing up to it was changed'),
    faults: z
      .array(z.object({ block: z.int().nullable(), problem: z.enum(['events', 'link', 'missing', 'unsealed']) }))
      .describe(
        '`events`: what is there isn’t what was sealed. `link`: the hash isn’t that of the block and the one before. `missing`: the block before isn’t there. `unsealed`: there are events that are in no block and do not wait for one',
      ),
    waiting: z.int().nullable().describe('Events that are not sealed yet; said with the last blocks'),
    next: z.int().nullable().describe('Ask again with this as `after`; null: that was the end'),
  })
  .meta({ id: 'EventVerification' });
export type EventVerification = z.infer<typeof EventVerification>;

export const verifyEvents = route({
  method: 'GET',
  path: '/admin/realms/:realm/events/verify',
  tag: 'events',
  summary: 'Check the chain of hashes over the audit log',
  description:
    'A second or so after events are committed they are sealed in blocks, in the order of their transactions; each block’s hash covers that of the block before, and is keyed under the master key. This reads events and compares, some tens of thousands with each request, from the first block or the one behind `after`.',
  permission: 'events:read',
  params: InRealm,
  query: z.strictObject({
    after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0).describe('A block’s number'),
    limit: z.coerce.number().int().min(1).max(1000).default(1000).describe('At most so many blocks'),
  }),
  response: EventVerification,
});
