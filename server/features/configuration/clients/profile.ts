// The demands of a security profile on a client: the fields that it sets, and the values that contradict it. Pure.
// FAPI 2.0 Security Profile §5.3.2, §5.4; FAPI 2.0 Message Signing §5.3, §5.4.
import type { SigningAlgorithm } from '../../../contract/algorithms.ts';
import { clientAlgorithms } from '../../../contract/algorithms.ts';
import type { Client } from '../../../contract/clients.ts';
import { loopbackHosts } from '../../../contract/names.ts';
import type { FieldError } from '../../../contract/problem.ts';
import {
  PROFILE_ALGORITHM,
  profileClientSigning,
  profileDefaults,
  profileMethods,
  profileSetsFor,
  profileSigning,
  type SecurityProfile,
} from '../../../contract/security-profiles.ts';

export const MESSAGE_SIGNING = 'fapi2-message-signing' satisfies SecurityProfile;

/** Of a client's and its realm's profile the stricter one. */
export const stricterProfile = (one: SecurityProfile | null, other: SecurityProfile | null): SecurityProfile | null =>
  one === MESSAGE_SIGNING || other === null ? one : other;

/** Fields by which the realm signs for the client, and by which the client signs. */
const SIGNED = [
  'idTokenSignedResponseAlg',
  'accessTokenSignedResponseAlg',
  'userinfoSignedResponseAlg',
  'authorizationSignedResponseAlg',
  'introspectionSignedResponseAlg',
] as const;
const SIGNS = ['tokenEndpointAuthSigningAlg', 'requestObjectSigningAlg'] as const;

export type Profiled = Pick<
  Client,
  | 'tokenEndpointAuthMethod'
  | 'clientAssertionAudience'
  | 'redirectUris'
  | 'reuseRefreshTokens'
  | 'backchannelTokenDeliveryMode'
  | (typeof SIGNED)[number]
  | (typeof SIGNS)[number]
>;

const isPlain = (uri: string): boolean => {
  const { protocol, hostname } = new URL(uri);
  return protocol === 'http:' && !loopbackHosts.has(hostname);
};

/** The client's fields that contradict the profile, with paths below the client. */
export function profileFaults(client: Profiled, profile: SecurityProfile | null): FieldError[] {
  if (profile === null) return [];
  const fault = (path: string, message: string): FieldError => ({ path, message: `${message} (profile ${profile})` });
  const other = (field: keyof Profiled, taken: readonly string[]): FieldError[] => {
    const value = client[field];
    return typeof value === 'string' && !taken.includes(value)
      ? [fault(field, `must be one of ${taken.join(', ')}`)]
      : [];
  };
  return [
    ...other('tokenEndpointAuthMethod', profileMethods),
    ...(client.clientAssertionAudience === 'endpoints'
      ? [fault('clientAssertionAudience', 'must be issuer, or null')]
      : []),
    ...(client.reuseRefreshTokens === false
      ? [fault('reuseRefreshTokens', 'must be true, or null: refresh tokens don’t rotate')]
      : []),
    ...other('backchannelTokenDeliveryMode', ['ping']),
    ...client.redirectUris.flatMap((uri, i) =>
      isPlain(uri) ? [fault(`redirectUris[${i}]`, 'must be https, a loopback address or an app’s own scheme')] : [],
    ),
    ...SIGNED.flatMap((field) => other(field, profileSigning.options)),
    ...SIGNS.flatMap((field) => other(field, profileClientSigning.options)),
  ];
}

/** The algorithms by which the client may sign assertions, requests and proofs of a key. */
export const algorithmsFor = ({ profile }: { profile: SecurityProfile | null }): readonly string[] =>
  profile === null ? clientAlgorithms : profileClientSigning.options;

/** How the client's proofs of a key are checked where it gets tokens (RFC 9449). */
export const rulesOfProofs = (client: {
  dpopBoundAccessTokens: boolean;
  profile: SecurityProfile | null;
}): { nonce: 'needed' | 'checked'; algorithms: readonly string[] } => ({
  nonce: client.dpopBoundAccessTokens ? 'needed' : 'checked',
  algorithms: algorithmsFor(client),
});

interface Settable {
  requirePkce: boolean;
  requirePushedAuthorizationRequests: boolean;
  requireSignedRequestObject: boolean;
  requireSignedResponse: boolean;
  dpopBoundAccessTokens: boolean;
  certificateBoundAccessTokens: boolean;
  reuseRefreshTokens: boolean | null;
  clientAssertionAudience: 'issuer' | 'endpoints' | null;
  idTokenSignedResponseAlg: SigningAlgorithm | null;
  accessTokenSignedResponseAlg: SigningAlgorithm | null;
  authorizationSignedResponseAlg: SigningAlgorithm | null;
  introspectionSignedResponseAlg: SigningAlgorithm | null;
}

/** The client with the values that its profile sets in place of the stored ones. */
export function underProfile<T extends Settable>(client: T, profile: SecurityProfile | null): T {
  if (profile === null) return client;
  const signing = profileDefaults.map((field) => [field, client[field] ?? PROFILE_ALGORITHM]);
  return {
    ...client,
    ...profileSetsFor(profile, client.certificateBoundAccessTokens),
    ...Object.fromEntries(signing),
    requireSignedResponse: profile === MESSAGE_SIGNING,
  };
}
