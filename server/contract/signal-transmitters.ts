// Transmitters of Shared Signals that the realm trusts, and what it does about their events. SSF 1.0, RFC 8935, RFC 8936; decisions
// "Shared Signals".
import { z } from 'zod';
import { kind } from './kind.ts';
import { ById, EpochMs, HttpsAddress, name, text } from './names.ts';
import { route } from './route.ts';
import type { Signal } from './signals.ts';

/** The consequences of an event, from none to the hardest. */
export const Reaction = z.enum(['ignore', 'notify', 'raiseRisk', 'endSessions', 'disable']);
export type Reaction = z.infer<typeof Reaction>;

/** The field of each event. */
export const reactionFields = {
  'session-revoked': 'sessionRevoked',
  'token-claims-change': 'tokenClaimsChange',
  'credential-change': 'credentialChange',
  'assurance-level-change': 'assuranceLevelChange',
  'account-disabled': 'accountDisabled',
  'account-enabled': 'accountEnabled',
  'account-purged': 'accountPurged',
  'credential-compromise': 'credentialCompromise',
  'identifier-changed': 'identifierChanged',
} as const satisfies Record<Signal, string>;

const Reactions = z
  .strictObject({
    sessionRevoked: Reaction.describe('The transmitter ended the user’s session'),
    tokenClaimsChange: Reaction.describe('Claims about the user changed there'),
    credentialChange: Reaction.describe('The user’s credentials there changed'),
    assuranceLevelChange: Reaction.describe('The user’s level of assurance there changed'),
    accountDisabled: Reaction.describe('The user’s account there was disabled'),
    accountEnabled: Reaction.describe('The user’s account there was enabled again'),
    accountPurged: Reaction.describe('The user’s account there was deleted'),
    credentialCompromise: Reaction.describe('Credentials of the user are known to others'),
    identifierChanged: Reaction.describe('The user’s address or number there changed'),
  } satisfies Record<(typeof reactionFields)[Signal], typeof Reaction>)
  .partial();

export const signalTransmitters = kind({
  section: 'signalTransmitters',
  kind: 'signalTransmitter',
  one: 'a signal transmitter',
  many: 'signal transmitters',
  description: 'Other servers whose security events count here',
  key: 'name',
  fields: {
    name: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/, 'may hold letters, digits and . _ -')
      .describe('Unique in the realm; stands in the address to which it pushes'),
    enabled: z.boolean().describe('Whether its events count'),
    issuer: HttpsAddress.describe('The exact `iss` of its tokens; its keys are found by discovery'),
    jwksUri: HttpsAddress.nullable().describe('Where its keys are, if not by discovery'),
    audience: text(1024).min(1).nullable().describe('The `aud` of its tokens; null: the realm’s issuer'),
    identityProvider: name(255)
      .nullable()
      .describe('Alias of the identity provider whose links say who its subjects are here'),
    matchEmail: z
      .boolean()
      .describe('Whether an address names the person whose confirmed address it is, without a link'),
    reactions: Reactions.describe(
      'What each event does: `notify` only the event SIGNAL_RECEIVED, `raiseRisk` too for a day, `endSessions`, `disable`; what is left out is ignored',
    ),
    delivery: z.enum(['push', 'poll']).describe('push: it sends tokens here; poll: the server fetches them'),
    pollUrl: HttpsAddress.nullable().describe(
      'poll: where tokens are fetched; null: as the transmitter said when the stream was created',
    ),
  },
  needed: ['issuer'],
  fresh: { enabled: true, matchEmail: false, reactions: {}, delivery: 'push' },
  names: { identityProvider: 'identityProvider' },
  secrets: {
    secret: text(2048)
      .min(16)
      .describe('push: the Authorization header that it sends; poll: the one that is sent to it; write-only'),
    accessToken: text(4096).min(16).describe('An access token for its management of streams; write-only'),
  },
  most: 200,
  mostInResource: 100,
  describe: {
    create: 'Trust a transmitter; whoever makes or changes one must hold `users:write`, as its events end sessions',
  },
  form: { lead: 'Other servers whose security events end sessions, raise risk or disable accounts here' },
  example: {
    name: 'corporate',
    issuer: 'https://signals.example.com',
    reactions: { sessionRevoked: 'endSessions' },
    secret: 'Bearer at least sixteen characters',
    accessToken: 'an access token for its streams',
  },
  updateExample: {
    enabled: false,
    issuer: 'https://other.example.com',
    jwksUri: 'https://other.example.com/keys',
    audience: 'https://us.example.com',
    matchEmail: true,
    reactions: { accountDisabled: 'disable', credentialCompromise: 'raiseRisk' },
    delivery: 'poll',
    pollUrl: 'https://other.example.com/poll',
    secret: 'Bearer other sixteen characters',
    accessToken: 'a token of the transmitter',
  },
  cli: {
    help: 'other servers whose security events count here, by Shared Signals',
    shown: ['enabled', 'issuer', 'delivery'],
    heads: { name: 'TRANSMITTER', secretSet: 'SECRET', accessTokenSet: 'TOKEN' },
  },
});
export const {
  list: listSignalTransmitters,
  create: createSignalTransmitter,
  get: getSignalTransmitter,
  put: putSignalTransmitter,
  remove: deleteSignalTransmitter,
} = signalTransmitters.routes;

const tag = 'signal-transmitters';
const at = '/admin/realms/:realm/signal-transmitters/:id/stream' as const;

export const SignalConnection = z
  .object({
    streamId: z.string(),
    audience: z.string().nullable().describe('The `aud` that the transmitter gives its tokens'),
    pollUrl: z.string().nullable(),
    connectedAt: EpochMs,
  })
  .meta({ id: 'SignalConnection' });
export type SignalConnection = z.infer<typeof SignalConnection>;

export const getSignalConnection = route({
  method: 'GET',
  path: at,
  tag,
  summary: 'Read which stream the realm has at a transmitter',
  permission: 'signal-transmitters:read',
  params: ById,
  response: SignalConnection,
  problems: ['not-found'],
});
export const connectSignalTransmitter = route({
  method: 'POST',
  path: at,
  tag,
  summary: 'Create the realm’s stream at a transmitter, or bring it up to date',
  description:
    'With the `accessToken`, at the endpoint that the transmitter’s metadata names. The stream has the events to which there is a reaction.',
  permission: 'signal-transmitters:write',
  params: ById,
  response: SignalConnection,
  problems: ['not-found', 'wrong-state'],
});
export const disconnectSignalTransmitter = route({
  method: 'DELETE',
  path: at,
  tag,
  summary: 'Delete the realm’s stream at a transmitter; if the transmitter can’t be reached, it is forgotten here',
  permission: 'signal-transmitters:write',
  params: ById,
  status: 204,
  problems: ['not-found'],
});
