// The realm's settings of passkeys (WebAuthn Level 3): which authenticators users may set up, and at which origins passkeys
// work. features/people/credentials/passkeys.ts applies them. docs/passkeys.md.
import { z } from 'zod';
import { loopbackHosts } from './names.ts';
import { servedTo } from './surface.ts';

/** The conveyance of attestation in requests (WebAuthn §5.4.7). */
export const Attestation = z.enum(['none', 'indirect', 'direct', 'enterprise']);
export const PasskeyHint = z.enum(['security-key', 'client-device', 'hybrid']);
export type PasskeyHint = z.infer<typeof PasskeyHint>;
export const PasskeyBinding = z.enum(['any', 'device-bound', 'synced']);

/** FIDO Metadata Service 3 §3.1.4: certifications, from the lowest to the highest. */
export const CertificationLevel = z.enum(['L1', 'L1plus', 'L2', 'L2plus', 'L3', 'L3plus']);
export type CertificationLevel = z.infer<typeof CertificationLevel>;
/** The same section: statuses that speak against an authenticator. */
export const BadStatus = z.enum([
  'REVOKED',
  'USER_VERIFICATION_BYPASS',
  'ATTESTATION_KEY_COMPROMISE',
  'USER_KEY_REMOTE_COMPROMISE',
  'USER_KEY_PHYSICAL_COMPROMISE',
]);
export type BadStatus = z.infer<typeof BadStatus>;

/** WebAuthn §5.11.1: browsers consider the origins of five labels at most. */
export const MOST_LABELS = 5;
/** The label of an origin: the part of its host before the public suffix. Without a list of suffixes it is an estimate. */
export function labelOf(origin: string): string {
  const { hostname } = new URL(origin);
  const parts = hostname.split('.');
  const [last = '', second = ''] = parts.toReversed();
  const isCountryWithPart = last.length === 2 && second.length <= 3 && parts.length > 2;
  return parts.at(isCountryWithPart ? -3 : -2) ?? hostname;
}

/** Whether the text is the origin of pages that are safe from others in the network. */
export const isOrigin = (text: string): boolean => {
  const url = URL.parse(text);
  if (!url || url.origin !== text || /[*]|[.]$/.test(url.hostname)) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopbackHosts.has(url.hostname));
};
const Origin = z
  .string()
  .max(300)
  .refine(isOrigin, 'must be an origin such as https://www.example.com, without a path; https, except on loopback')
  .meta({ examples: ['https://www.example.com'] });
const Aaguid = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, 'must be an AAGUID in lower case')
  .meta({ examples: ['ee882879-721c-4913-9775-3dfcce97072a'] });
const Host = z
  .string()
  .max(253)
  .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, 'must be a host in lower case, without a port')
  .meta({ examples: ['example.com'] });

export const passkeySettings = {
  passkeyAttestation: Attestation.describe(
    'The attestation that authenticators are asked for. none: no proof of their make; indirect: it is checked where one comes; direct and enterprise: without a proof by FIDO’s metadata no passkey is set up. enterprise also asks for the serial number of the company’s own authenticators',
  ),
  passkeyAllowedAuthenticators: z
    .array(Aaguid)
    .max(500)
    .describe(
      'AAGUIDs of the only authenticators for new passkeys; empty: any. Attestation direct or enterprise proves them',
    ),
  passkeyDeniedAuthenticators: z.array(Aaguid).max(500).describe('AAGUIDs of authenticators that get no new passkey'),
  passkeyMinimumCertification: CertificationLevel.nullable().describe(
    'The lowest certification by FIDO that an authenticator needs for a new passkey; null: none. It needs attestation direct or enterprise',
  ),
  passkeyRefusedStatuses: z
    .array(BadStatus)
    .max(BadStatus.options.length)
    .describe('Statuses in FIDO’s metadata with which an authenticator gets no new passkey'),
  passkeyRefusedAtSignIn: z
    .boolean()
    .describe(
      'Whether existing passkeys stop working when their authenticator gets one of passkeyRefusedStatuses; false: events and the console report them',
    ),
  passkeyBinding: PasskeyBinding.describe(
    'Which new passkeys are accepted. device-bound: those that can’t leave their authenticator; synced: those that can; any: both',
  ),
  passkeyHints: z
    .array(PasskeyHint)
    .max(3)
    .describe('The kinds of authenticators that browsers offer first, in this order; empty: the browser decides'),
  passkeyRpId: Host.nullable().describe(
    'The host that new passkeys belong to (RP ID): the host of the realm’s pages or one of its parent domains, or the server’s own host; null: the host of the realm’s pages. Existing passkeys of another host stop working. Changing it needs `managers:write` too',
  ),
  passkeyRelatedOrigins: z
    .array(Origin)
    .max(20)
    .describe(
      'Further origins whose pages may use the realm’s passkeys (/.well-known/webauthn of the RP ID’s host lists them), of five domains at most. Whoever controls one can ask for sign-ins: changing it needs `managers:write` too',
    ),
};

export const freshPasskeySettings = {
  passkeyAttestation: 'none' as const,
  passkeyAllowedAuthenticators: [],
  passkeyDeniedAuthenticators: [],
  passkeyMinimumCertification: null,
  passkeyRefusedStatuses: BadStatus.options,
  passkeyRefusedAtSignIn: false,
  passkeyBinding: 'any' as const,
  passkeyHints: [],
  passkeyRpId: null,
  passkeyRelatedOrigins: [],
};

/** Related Origin Requests, WebAuthn §5.11. */
export const relatedOriginsRoute = {
  method: 'GET',
  url: '/.well-known/webauthn',
  config: servedTo('anonymous'),
  schema: {
    tags: ['credentials'],
    operationId: 'getRelatedOrigins',
    security: [] as { [scheme: string]: string[] }[],
    summary: 'The origins whose pages may use the passkeys of this host (WebAuthn §5.11)',
    response: { 200: z.object({ origins: z.array(z.string()) }) },
  },
} as const;
