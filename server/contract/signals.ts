// The events of Shared Signals that this server sends and understands, by short names. CAEP 1.0, RISC 1.0, SSF 1.0 §8.1, RFC 9967.
import { z } from 'zod';

const caep = (name: string) => `https://schemas.openid.net/secevent/caep/event-type/${name}`;
const risc = (name: string) => `https://schemas.openid.net/secevent/risc/event-type/${name}`;

const uris = {
  'session-revoked': caep('session-revoked'),
  'token-claims-change': caep('token-claims-change'),
  'credential-change': caep('credential-change'),
  'assurance-level-change': caep('assurance-level-change'),
  'account-disabled': risc('account-disabled'),
  'account-enabled': risc('account-enabled'),
  'account-purged': risc('account-purged'),
  'credential-compromise': risc('credential-compromise'),
  'identifier-changed': risc('identifier-changed'),
} as const;

export type Signal = keyof typeof uris;
export const Signal = z.enum(Object.keys(uris) as [Signal, ...Signal[]]);

const prov = (name: string) => `urn:ietf:params:scim:event:prov:${name}`;
const provisioning = {
  'scim-create': prov('create:notice'),
  'scim-patch': prov('patch:notice'),
  'scim-delete': prov('delete'),
  'scim-activate': prov('activate'),
  'scim-deactivate': prov('deactivate'),
} as const;
type Provisioning = keyof typeof provisioning;

/** The events that streams may have: those of SCIM are sent and never acted on. */
export type SentSignal = Signal | Provisioning;
export const SentSignal = z.enum([...Object.keys(uris), ...Object.keys(provisioning)] as [SentSignal, ...SentSignal[]]);
export const isProvisioning = (signal: SentSignal): boolean => Object.hasOwn(provisioning, signal);
/** The address that names an event in a token. */
export const uriOfSignal: Readonly<Record<SentSignal, string>> = { ...uris, ...provisioning };
export const signalOfUri: ReadonlyMap<string, Signal> = new Map(Signal.options.map((name) => [uris[name], name]));

export const VERIFICATION = 'https://schemas.openid.net/secevent/ssf/event-type/verification';
export const STREAM_UPDATED = 'https://schemas.openid.net/secevent/ssf/event-type/stream-updated';

/** How a subject is named in a token. RFC 9493, SSF 1.0 §3, RFC 9967 §2.1. */
export const SubjectFormat = z.enum(['iss_sub', 'email', 'opaque', 'complex', 'scim']);
export type SubjectFormat = z.infer<typeof SubjectFormat>;

/** RFC 8935, RFC 8936. */
export const PUSH = 'urn:ietf:rfc:8935';
export const POLL = 'urn:ietf:rfc:8936';
/** The names of push and poll in the drafts, by which some receivers still ask. */
export const deliveryMethods: Readonly<Record<string, 'push' | 'poll'>> = {
  [PUSH]: 'push',
  [POLL]: 'poll',
  'https://schemas.openid.net/secevent/risc/delivery-method/push': 'push',
  'https://schemas.openid.net/secevent/risc/delivery-method/poll': 'poll',
};

/** The media type of a security event token. RFC 8417 §7.2. */
export const SET_TYPE = 'application/secevent+jwt';
