// Receivers of Shared Signals: the clients that may have streams, and what these may hold. The streams themselves are run-time data of
// the receivers (ssf.ts); administrators see and end them. SSF 1.0; decisions "Signal receiver".
import { z } from 'zod';
import { ClientId } from './clients.ts';
import { type AnswerOf, kind } from './kind.ts';
import { ById, EpochMs, Id, Page, RealmName, text } from './names.ts';
import { route } from './route.ts';
import { SentSignal, SubjectFormat } from './signals.ts';

export const signalReceivers = kind({
  section: 'signalReceivers',
  kind: 'signalReceiver',
  one: 'a signal receiver',
  many: 'signal receivers',
  description: 'Clients that are told of security events by Shared Signals',
  key: 'clientId',
  fields: {
    clientId: ClientId.describe('The client whose tokens create and change its streams'),
    enabled: z.boolean().describe('Whether its streams exist for it and are sent'),
    events: z
      .array(SentSignal)
      .max(20)
      .describe('The events that it may request; those of SCIM need the format `scim`'),
    subjects: z
      .enum(['used', 'all'])
      .describe('About whom: people who have used the client, or everybody in the realm'),
    startWith: z
      .enum(['all', 'none'])
      .describe('Whether a new stream is about all of these people, or about none until the receiver adds them'),
    formats: z
      .array(SubjectFormat)
      .min(1)
      .max(5)
      .describe(
        'How it may have people named: `iss_sub`, `email`, `opaque`, `complex` with the session, `scim` by their id',
      ),
    audience: text(1024).min(1).nullable().describe('The `aud` of its tokens; null: its clientId'),
    subjectInEvents: z
      .boolean()
      .describe('Whether events repeat the subject inside, as receivers of the drafts read it there'),
  },
  needed: ['events'],
  fresh: { enabled: true, subjects: 'used', startWith: 'all', formats: ['iss_sub'], subjectInEvents: false },
  most: 1000,
  mostInResource: 200,
  describe: {
    create:
      'Permit a client to have streams; whoever does it must hold `events:read`, and `users:read` where they are about everybody',
    remove: 'Delete a receiver with its streams',
  },
  form: { lead: 'Clients that are told of security events: ended sessions, changed credentials, disabled accounts' },
  example: { clientId: 'deployer', events: ['session-revoked', 'credential-change'] },
  updateExample: {
    enabled: false,
    events: ['account-disabled'],
    subjects: 'all',
    startWith: 'none',
    formats: ['complex', 'email'],
    audience: 'https://receiver.example.com',
    subjectInEvents: true,
  },
  cli: {
    help: 'clients that are told of security events by Shared Signals',
    shown: ['enabled', 'subjects', 'events'],
    heads: { clientId: 'CLIENT', subjects: 'ABOUT' },
  },
});
export const {
  list: listSignalReceivers,
  create: createSignalReceiver,
  get: getSignalReceiver,
  put: putSignalReceiver,
  remove: deleteSignalReceiver,
} = signalReceivers.routes;

const tag = 'signal-receivers';
const at = '/admin/realms/:realm/signal-receivers/:id/streams' as const;
const OfStream = z.strictObject({ realm: RealmName, id: Id, streamId: Id });

export const SignalStream = z
  .object({
    id: Id,
    method: z.enum(['push', 'poll']),
    endpointUrl: z.string().nullable().describe('Where tokens are pushed'),
    format: SubjectFormat,
    events: z.array(SentSignal).describe('Those that are delivered: requested and permitted'),
    status: z.enum(['enabled', 'paused', 'disabled']),
    statusReason: z.string().nullable(),
    description: z.string().nullable(),
    createdAt: EpochMs,
    waiting: z.int().describe('Tokens that are not delivered yet'),
    failed: z.int().describe('Tokens that were given up'),
    lastDeliveredAt: EpochMs.nullable(),
    lastError: z.string().nullable(),
  })
  .meta({ id: 'SignalStream' });
export type SignalStream = z.infer<typeof SignalStream>;

export const listSignalStreams = route({
  method: 'GET',
  path: at,
  tag,
  summary: 'List the streams of a receiver, with their deliveries',
  permission: 'signal-receivers:read',
  params: ById,
  query: Page,
  response: z.array(SignalStream),
  problems: ['not-found'],
});
export const deleteSignalStream = route({
  method: 'DELETE',
  path: `${at}/:streamId`,
  tag,
  summary: 'End a stream with what it has not delivered',
  permission: 'signal-receivers:write',
  params: OfStream,
  status: 204,
  problems: ['not-found'],
});
export type SignalReceiver = AnswerOf<typeof signalReceivers>;
