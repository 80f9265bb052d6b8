// Judges the authenticator of a new passkey by the realm's settings: its make, whether the make is proven, and whether the
// key can leave it. The library has verified the statement's signature by then; here its certificates are followed to a root.
import { type BadStatus, CertificationLevel } from '../../../contract/passkeys.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { leadsToRoot } from '../../../crypto/certificate-path.ts';
import type { AuthenticatorEntry } from './authenticator-metadata.ts';

export type PasskeyPolicy = Pick<
  RealmSettingsDto,
  | 'passkeyAttestation'
  | 'passkeyAllowedAuthenticators'
  | 'passkeyDeniedAuthenticators'
  | 'passkeyMinimumCertification'
  | 'passkeyRefusedStatuses'
  | 'passkeyRefusedAtSignIn'
  | 'passkeyBinding'
  | 'passkeyHints'
  | 'passkeyRpId'
  | 'passkeyRelatedOrigins'
>;

export interface Made {
  aaguid: string;
  /** The format of the attestation statement. */
  format: string;
  /** The certificates of the statement, the authenticator's own first; empty: it has none. */
  certificates: readonly Uint8Array[];
  synced: boolean;
}

/** Why the realm doesn't accept an authenticator, for the audit log. */
export type NotAccepted =
  | 'attestation-missing'
  | 'attestation-unproven'
  | 'authenticator-not-allowed'
  | 'authenticator-denied'
  | 'authenticator-uncertified'
  | `status-${BadStatus}`
  | 'synced'
  | 'device-bound';

/** Formats whose makers have one root for all devices: Apple and Android have no roots in FIDO's metadata for each. */
export type OwnRoots = Readonly<Partial<Record<string, readonly string[]>>>;

/**
 * The only AAGUID that such a root proves: in these formats nothing else ties the statement to a model. Any app on a phone can have a
 * key attested, and then claim the AAGUID of a security key.
 */
const MODEL_OF: Readonly<Partial<Record<string, string>>> = {
  apple: 'f24a8e70-d0d3-f82c-2937-32523cc4de5a',
  'android-key': 'b93fd961-f2e6-462f-b122-82002247de78',
};

/** Whether the statement's certificates prove the make. */
export function isProven(
  { aaguid, format, certificates }: Made,
  entry: AuthenticatorEntry | undefined,
  { ownRoots, now }: { ownRoots: OwnRoots; now: Date },
): boolean {
  if (certificates.length === 0 || format === 'none') return false;
  const listed = (entry?.roots ?? []).map((root) => Buffer.from(root, 'base64'));
  const own = MODEL_OF[format] === aaguid ? (ownRoots[format] ?? []) : [];
  return leadsToRoot(certificates, [...listed, ...own], now);
}

const rankOf = (level: CertificationLevel | null): number =>
  level === null ? -1 : CertificationLevel.options.indexOf(level);

/** Why the realm accepts no passkey of this authenticator; undefined: it does. */
export function refusalOf(
  policy: PasskeyPolicy,
  made: Made,
  { entry, proven }: { entry: AuthenticatorEntry | undefined; proven: boolean },
): NotAccepted | undefined {
  const { passkeyAttestation: attestation, passkeyAllowedAuthenticators: allowed } = policy;
  if (policy.passkeyBinding === 'device-bound' && made.synced) return 'synced';
  if (policy.passkeyBinding === 'synced' && !made.synced) return 'device-bound';
  const mustProve = attestation === 'direct' || attestation === 'enterprise';
  if (mustProve && !proven) return made.certificates.length === 0 ? 'attestation-missing' : 'attestation-unproven';
  if (policy.passkeyDeniedAuthenticators.includes(made.aaguid)) return 'authenticator-denied';
  if (allowed.length > 0 && !allowed.includes(made.aaguid)) return 'authenticator-not-allowed';
  const status = entry && badStatusOf(policy, entry.statuses);
  if (status) return `status-${status}`;
  if (rankOf(entry?.certification ?? null) < rankOf(policy.passkeyMinimumCertification))
    return 'authenticator-uncertified';
  return undefined;
}

/** The first status that the realm refuses. */
export const badStatusOf = (
  { passkeyRefusedStatuses: refused }: Pick<PasskeyPolicy, 'passkeyRefusedStatuses'>,
  statuses: readonly BadStatus[],
): BadStatus | undefined => statuses.find((status) => refused.includes(status));

/** WebAuthn §5.4.4: for browsers that don't know hints yet. Hints of two kinds leave the choice open. */
export function attachmentOf({ passkeyHints: hints }: Pick<PasskeyPolicy, 'passkeyHints'>) {
  if (hints.length === 0) return {};
  const isHere = hints.map((hint) => hint === 'client-device');
  if (isHere.every(Boolean)) return { authenticatorAttachment: 'platform' as const };
  return isHere.some(Boolean) ? {} : { authenticatorAttachment: 'cross-platform' as const };
}
