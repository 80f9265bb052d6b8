// Users' sign-in sessions, for administrators. Decisions "Session"; specification 4.10.
import { z } from 'zod';
import { ById, EpochMs, Id, InRealm, name, Page, text } from './names.ts';
import { route } from './route.ts';

export const Session = z
  .object({
    id: Id,
    userId: Id,
    username: z.string(),
    clients: z
      .array(z.string())
      .describe('clientIds that got tokens in this session, and entity ids of SAML clients that it led to'),
    ipAddress: z.string().nullable(),
    userAgent: z.string().nullable(),
    startedAt: EpochMs,
    lastSeenAt: EpochMs,
    expiresAt: EpochMs,
    rememberMe: z.boolean(),
    levelOfAssurance: z.int(),
    impersonator: z.string().nullable().describe('Who acts in it for the person; null: the person themselves'),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof Session>;

export const listSessions = route({
  method: 'GET',
  path: '/admin/realms/:realm/sessions',
  tag: 'sessions',
  summary: 'List live sessions, newest first',
  permission: 'sessions:read',
  params: InRealm,
  query: Page.extend({
    userId: Id.optional(),
    username: name().optional().describe('Whose, whatever its case'),
    clientId: name().optional().describe('Sessions in which this client got tokens; or the entity id of a SAML client'),
    ipAddress: text(45).optional().describe('Where they began'),
  }),
  response: z.array(Session),
});

export const RetriedLogout = z
  .object({
    eventId: Id.describe('The event of the failure'),
    clientId: z.string(),
    sessionId: z.string().describe('The session that has ended'),
  })
  .meta({ id: 'RetriedLogout' });
export type RetriedLogout = z.infer<typeof RetriedLogout>;
export const retryLogout = route({
  method: 'POST',
  path: '/admin/realms/:realm/logouts/:id/retry',
  operationId: 'retryLogout',
  tag: 'sessions',
  summary: 'Tell an application again of a logout that the server gave up',
  description:
    'The id is that of the event `BACKCHANNEL_LOGOUT_FAILED`. The application gets a new logout token for the same session, with a new schedule of tries; one that has heard of the logout loses nothing by hearing of it again. 409 `wrong-state`: the application is gone or disabled, or has no back-channel address any more.',
  permission: 'sessions:write',
  params: ById,
  status: 202,
  response: RetriedLogout,
  problems: ['not-found', 'wrong-state'],
});

export const ServiceAccountSession = z
  .object({
    clientId: z.string(),
    grant: z.enum(['client_credentials', 'token-exchange']).describe('token-exchange: by workload identity'),
    lastTokenAt: EpochMs,
    ipAddress: z.string().nullable().describe('Where it asked from'),
  })
  .meta({ id: 'ServiceAccountSession' });
export type ServiceAccountSession = z.infer<typeof ServiceAccountSession>;
export const listServiceAccountSessions = route({
  method: 'GET',
  path: '/admin/realms/:realm/sessions/service-accounts',
  tag: 'sessions',
  summary: 'Service accounts that have lately got tokens for themselves, the latest first',
  description:
    'A service account has no session: it gets a token whenever it needs one, and each stands by itself until it expires. This tells from the audit log which clients got one within the last day and when last, looking at the newest 10,000 tokens of each kind.',
  permission: 'sessions:read',
  params: InRealm,
  response: z.array(ServiceAccountSession),
});
export const endSession = route({
  method: 'DELETE',
  path: '/admin/realms/:realm/sessions/:id',
  tag: 'sessions',
  summary: 'End a session and its tokens',
  permission: 'sessions:write',
  params: ById,
  status: 204,
  problems: ['not-found', 'privilege-escalation'],
});
export const EndedSessions = z
  .object({
    sessions: z.int().describe('How many were ended'),
    offline: z.int().describe('How many grants of offline access were ended'),
    more: z.boolean().describe('Whether some are left: send it again'),
  })
  .meta({ id: 'EndedSessions' });
export type EndedSessions = z.infer<typeof EndedSessions>;
export const endClientSessions = route({
  method: 'DELETE',
  path: '/admin/realms/:realm/sessions',
  tag: 'sessions',
  summary: 'End all sessions in which a client got tokens',
  description:
    'With all tokens, and the offline ones that the client has; people can sign in anew. At most 1,000 of each at a time. Nothing ends where one of the people holds admin permissions that the caller doesn’t.',
  permission: 'sessions:write',
  params: InRealm,
  query: z.strictObject({ clientId: name().describe('Whose; or the entity id of a SAML client') }),
  response: EndedSessions,
  problems: ['not-found', 'privilege-escalation'],
});
