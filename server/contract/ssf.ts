// Shared Signals for receivers: the transmitter's metadata, streams, subjects, verification, and fetching tokens; and the endpoint to
// which trusted transmitters push theirs. SSF 1.0 §7, §8; RFC 8935; RFC 8936.
import { z } from 'zod';
import { HttpsAddress, InRealm, RealmName, text } from './names.ts';
import { OAuthErrorBody } from './oauth.ts';
import { deliveryMethods, POLL, PUSH, SET_TYPE, SubjectFormat } from './signals.ts';
import { servedTo } from './surface.ts';

const tag = 'ssf';
const at = '/realms/:realm/ssf' as const;

/** The scopes of CAEP's interoperability profile §2.7.3. */
export const MANAGE_SCOPE = 'ssf.manage';
export const READ_SCOPE = 'ssf.read';
/** The least time between two verifications of a stream. */
export const VERIFICATION_SECONDS = 60;

const Uri = text(1024).min(1);
const Delivery = z.object({
  method: z.string().refine((method) => Object.hasOwn(deliveryMethods, method), `must be ${PUSH} or ${POLL}`),
  endpoint_url: HttpsAddress.optional().describe('push: where tokens are sent. Of a poll stream the answer has it'),
  authorization_header: text(2048)
    .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')
    .optional()
    .describe('push: what is sent with each token; write-only'),
});
/** The receiver's part of a stream. */
const supplied = {
  delivery: Delivery,
  events_requested: z.array(Uri).max(100).describe('By their addresses; left out: all that it may have'),
  format: SubjectFormat.describe('How people are named; left out: `iss_sub`, or the first that it may have'),
  description: text(1000),
};
/** Without `delivery` the receiver fetches the tokens; SSF 1.0 §8.1.1.1. */
export const StreamInput = z.object(supplied).partial();
export type StreamInput = z.infer<typeof StreamInput>;
const unchangeable = {
  stream_id: Uri,
  iss: z.string().optional(),
  aud: z.union([z.string(), z.array(z.string())]).optional(),
  events_supported: z.array(z.string()).optional(),
  events_delivered: z.array(z.string()).optional(),
  min_verification_interval: z.int().optional(),
};
export const StreamUpdate = z.object({ ...unchangeable, ...z.object(supplied).partial().shape });
export const StreamReplacement = z.object({
  ...unchangeable,
  ...z.object(supplied).partial().required({ delivery: true }).shape,
});
export type StreamChange = z.infer<typeof StreamUpdate>;

const Stream = z
  .object({
    stream_id: z.string(),
    iss: z.string(),
    aud: z.string(),
    delivery: z.object({ method: z.string(), endpoint_url: z.string() }),
    events_supported: z.array(z.string()),
    events_requested: z.array(z.string()),
    events_delivered: z.array(z.string()),
    format: SubjectFormat,
    min_verification_interval: z.int(),
    description: z.string().optional(),
  })
  .meta({ id: 'SsfStream' });
export type Stream = z.infer<typeof Stream>;

const statuses = z.enum(['enabled', 'paused', 'disabled']);
export const StatusInput = z.object({ stream_id: Uri, status: statuses, reason: text(1000).optional() });
export const StreamStatus = z
  .object({ stream_id: z.string(), status: statuses, reason: z.string().optional() })
  .meta({ id: 'SsfStreamStatus' });

const simple = {
  iss_sub: z.object({ format: z.literal('iss_sub'), iss: text(2048), sub: text(255) }),
  email: z.object({ format: z.literal('email'), email: text(320) }),
  opaque: z.object({ format: z.literal('opaque'), id: text(255) }),
  scim: z.object({ format: z.literal('scim'), uri: text(255) }),
};
const Simple = z.discriminatedUnion('format', [simple.iss_sub, simple.email, simple.opaque, simple.scim]);
export const SubjectIdentifier = z.union([Simple, z.object({ format: z.literal('complex'), user: Simple })]);
export type SubjectIdentifier = z.infer<typeof SubjectIdentifier>;
export const SubjectInput = z.object({
  stream_id: Uri,
  subject: SubjectIdentifier.describe(
    'A person, as the stream names people or in another format that the receiver may have',
  ),
  verified: z.boolean().optional(),
});
export const VerificationInput = z.object({ stream_id: Uri, state: text(1024).optional() });

/** RFC 8936 §2.4. */
export const PollInput = z.object({
  maxEvents: z.int().min(0).optional(),
  returnImmediately: z.boolean().optional(),
  ack: z.array(text(255)).max(1000).optional().describe('The `jti` of tokens that have arrived'),
  setErrs: z
    .record(text(255), z.object({ err: text(255), description: text(1000).optional() }))
    .optional()
    .describe('Tokens that the receiver can’t use'),
});
export type PollInput = z.infer<typeof PollInput>;
const Polled = z.object({
  sets: z.record(z.string(), z.string()).describe('By `jti`'),
  moreAvailable: z.boolean(),
});

const failures = {
  400: OAuthErrorBody.describe('`invalid_request`'),
  401: OAuthErrorBody.describe('`invalid_token`; see WWW-Authenticate'),
  403: OAuthErrorBody.describe(
    `\`insufficient_scope\`: the token has no scope ${MANAGE_SCOPE}; \`access_denied\`: the client is no receiver here`,
  ),
  404: OAuthErrorBody.describe('`not_found`: there is no such realm, or the client has no such stream'),
  429: OAuthErrorBody.describe('`slow_down`'),
  default: OAuthErrorBody.describe('`server_error` (500), `temporarily_unavailable` (503)'),
};
const base = { tags: [tag], params: InRealm, security: [{ signalsToken: [] }] };
const json = { ...base, consumes: ['application/json'] };
const config = servedTo('resource-server');
const OfStream = z.object({ stream_id: z.string().optional() });
const example = {
  delivery: {
    method: PUSH,
    endpoint_url: 'https://receiver.example.com/events',
    authorization_header: 'Bearer a token of its own',
  },
  events_requested: ['https://schemas.openid.net/secevent/caep/event-type/session-revoked'],
};
const stream_id = '0199f3c2-5f0e-7c3a-9a51-1f2a3b4c5d6e';

export const createStreamRoute = {
  method: 'POST',
  url: `${at}/streams`,
  config,
  schema: {
    ...json,
    operationId: 'createSsfStream',
    summary: 'Create a stream (SSF 1.0 §8.1.1.1)',
    description: `With an access token of a client that is a signal receiver; its scope is \`${MANAGE_SCOPE}\`, and for reading \`${READ_SCOPE}\` is enough.`,
    body: StreamInput.meta({ examples: [example] }),
    response: { 201: Stream, ...failures },
  },
} as const;
export const readStreamRoute = {
  method: 'GET',
  url: `${at}/streams`,
  config,
  schema: {
    ...base,
    operationId: 'getSsfStreams',
    summary: 'Read the client’s streams, or the one with this `stream_id`',
    querystring: OfStream,
    response: { 200: z.union([z.array(Stream), Stream]), ...failures },
  },
} as const;
export const updateStreamRoute = {
  method: 'PATCH',
  url: `${at}/streams`,
  config,
  schema: {
    ...json,
    operationId: 'updateSsfStream',
    summary: 'Change some of a stream',
    body: StreamUpdate.meta({ examples: [{ stream_id, description: 'Sessions' }] }),
    response: { 200: Stream, ...failures },
  },
} as const;
export const replaceStreamRoute = {
  method: 'PUT',
  url: `${at}/streams`,
  config,
  schema: {
    ...json,
    operationId: 'replaceSsfStream',
    summary: 'Replace a stream’s configuration',
    body: StreamReplacement.meta({ examples: [{ stream_id, ...example }] }),
    response: { 200: Stream, ...failures },
  },
} as const;
export const deleteStreamRoute = {
  method: 'DELETE',
  url: `${at}/streams`,
  config,
  schema: {
    ...base,
    operationId: 'deleteSsfStream',
    summary: 'Delete a stream with what it has not delivered',
    querystring: OfStream,
    response: { 204: z.null(), ...failures },
  },
} as const;
export const readStatusRoute = {
  method: 'GET',
  url: `${at}/status`,
  config,
  schema: {
    ...base,
    operationId: 'getSsfStreamStatus',
    summary: 'Whether a stream delivers',
    querystring: OfStream,
    response: { 200: StreamStatus, ...failures },
  },
} as const;
export const updateStatusRoute = {
  method: 'POST',
  url: `${at}/status`,
  config,
  schema: {
    ...json,
    operationId: 'updateSsfStreamStatus',
    summary: 'Pause a stream, which then keeps its tokens, disable it, or enable it again',
    body: StatusInput.meta({ examples: [{ stream_id, status: 'paused' }] }),
    response: { 200: StreamStatus, ...failures },
  },
} as const;
export const addSubjectRoute = {
  method: 'POST',
  url: `${at}/subjects/add`,
  config,
  schema: {
    ...json,
    operationId: 'addSsfSubject',
    summary: 'Be told of a person by this stream; the answer doesn’t say whether there is such a person',
    body: SubjectInput.meta({ examples: [{ stream_id, subject: { format: 'email', email: 'ana@example.com' } }] }),
    response: { 200: z.null(), ...failures },
  },
} as const;
export const removeSubjectRoute = {
  method: 'POST',
  url: `${at}/subjects/remove`,
  config,
  schema: {
    ...json,
    operationId: 'removeSsfSubject',
    summary: 'Be told of a person no more',
    body: SubjectInput.meta({ examples: [{ stream_id, subject: { format: 'email', email: 'ana@example.com' } }] }),
    response: { 204: z.null(), ...failures },
  },
} as const;
export const verificationRoute = {
  method: 'POST',
  url: `${at}/verification`,
  config,
  schema: {
    ...json,
    operationId: 'verifySsfStream',
    summary: 'Have a verification event sent',
    body: VerificationInput.meta({ examples: [{ stream_id, state: 'a word of the receiver' }] }),
    response: { 204: z.null(), ...failures },
  },
} as const;
export const pollRoute = {
  method: 'POST',
  url: `${at}/streams/:id/poll`,
  config,
  schema: {
    ...json,
    params: z.object({ realm: RealmName, id: z.string() }),
    operationId: 'pollSsfStream',
    summary: 'Fetch tokens, and acknowledge those that have arrived (RFC 8936)',
    body: PollInput.meta({ examples: [{ maxEvents: 10, ack: [] }] }),
    response: { 200: Polled, ...failures },
  },
} as const;

/** RFC 8935 §2.3, §2.4. */
const Refusal = z.object({ err: z.string(), description: z.string().optional() }).meta({ id: 'SetRefusal' });
export const pushedEventRoute = {
  method: 'POST',
  url: `${at}/events/:name`,
  config: servedTo('own-token'),
  schema: {
    tags: [tag],
    security: [] as { [scheme: string]: string[] }[],
    params: z.object({ realm: RealmName, name: z.string().describe('The transmitter’s name') }),
    operationId: 'receiveSecurityEvent',
    summary: 'Where a trusted transmitter pushes its tokens (RFC 8935)',
    consumes: [SET_TYPE],
    body: z.string().meta({ examples: ['eyJ0eXAiOiJzZWNldmVudCtqd3QiLCJhbGciOiJSUzI1NiJ9.e30.c2ln'] }),
    response: {
      202: z.null(),
      400: Refusal.describe('`invalid_request`, `invalid_key`, `invalid_issuer`, `invalid_audience`'),
      401: Refusal.describe('`authentication_failed`: the Authorization header is not the one agreed on'),
      404: OAuthErrorBody.describe('`not_found`: there is no such realm or transmitter'),
      429: OAuthErrorBody.describe('`slow_down`'),
      default: OAuthErrorBody.describe('`server_error` (500), `temporarily_unavailable` (503)'),
    },
  },
} as const;

const Metadata = z
  .object({
    spec_version: z.string(),
    issuer: z.string(),
    jwks_uri: z.string(),
    delivery_methods_supported: z.array(z.string()),
    configuration_endpoint: z.string(),
    status_endpoint: z.string(),
    add_subject_endpoint: z.string(),
    remove_subject_endpoint: z.string(),
    verification_endpoint: z.string(),
    authorization_schemes: z.array(z.object({ spec_urn: z.string() })),
  })
  .meta({ id: 'SsfConfiguration' });
export type SsfConfiguration = z.infer<typeof Metadata>;
export const ssfConfigurationRoute = {
  method: 'GET',
  url: '/realms/:realm/.well-known/ssf-configuration',
  config: servedTo('anonymous'),
  schema: {
    tags: [tag],
    params: InRealm,
    operationId: 'getSsfConfiguration',
    security: [] as { [scheme: string]: string[] }[],
    summary: 'The realm as a transmitter of Shared Signals (SSF 1.0 §7.1)',
    response: { 200: Metadata, 404: failures[404], default: failures.default },
  },
} as const;
/** SSF 1.0 §7.2: the well-known part goes between host and path. */
export const insertedSsfConfigurationRoute = {
  ...ssfConfigurationRoute,
  url: '/.well-known/ssf-configuration/realms/:realm',
  schema: { ...ssfConfigurationRoute.schema, operationId: 'getInsertedSsfConfiguration' },
} as const;
