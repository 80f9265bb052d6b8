// The library of WebAuthn, loaded when it is first needed: that takes longer than the rest of a sign-in.
//
// The library would follow a statement's certificates to its own roots and fetch revocation lists from addresses in these
// certificates, outside the guard of outbound requests. It gets no roots, so it does neither. passkey-policy.ts follows the
// certificates instead, and FIDO's metadata reports revoked authenticators.
import { leadsToRoot } from '../../../crypto/certificate-path.ts';
import type { OwnRoots } from './passkey-policy.ts';

type Library = typeof import('@simplewebauthn/server');
/** Formats whose maker has one root for all its devices. */
const ONE_ROOT = ['apple', 'android-key'] as const;
const ROOTED = [...ONE_ROOT, 'android-safetynet'] as const;

interface Loaded {
  library: Library;
  ownRoots: OwnRoots;
  /** The roots of FIDO's metadata service. */
  metadataRoots: readonly string[];
}
let loaded: Promise<Loaded> | undefined;

async function load(): Promise<Loaded> {
  const library = await import('@simplewebauthn/server');
  const rootsOf = (identifier: (typeof ROOTED)[number] | 'mds') =>
    library.SettingsService.getRootCertificates({ identifier });
  const ownRoots = Object.fromEntries(ONE_ROOT.map((format) => [format, rootsOf(format)]));
  const metadataRoots = rootsOf('mds');
  for (const identifier of ROOTED) library.SettingsService.setRootCertificates({ identifier, certificates: [] });
  return { library, ownRoots, metadataRoots };
}
const all = (): Promise<Loaded> => {
  loaded ??= load();
  return loaded;
};

export const library = async (): Promise<Library> => (await all()).library;
export const metadataRoots = async (): Promise<readonly string[]> => (await all()).metadataRoots;

/** An attestation statement before it is verified. */
export interface Statement {
  format: string;
  /** The authenticator's own certificate comes first; empty: there is none. */
  certificates: readonly Uint8Array[];
  ownRoots: OwnRoots;
}

/**
 * Reads the attestation statement; undefined: the library must not verify it. For Android the library takes the last
 * certificate that was sent as the root, and would fetch revocation lists that the sender names: so the certificates must
 * lead to Google's root first.
 */
export async function readStatement(attestationObject: string, now: Date): Promise<Statement | undefined> {
  const [{ ownRoots }, { decodeAttestationObject }] = await Promise.all([
    all(),
    import('@simplewebauthn/server/helpers'),
  ]);
  try {
    const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
    const format = String(decoded.get('fmt'));
    const certificates = [...(decoded.get('attStmt').get('x5c') ?? [])];
    if (format === 'android-key' && !leadsToRoot(certificates, ownRoots[format] ?? [], now)) return undefined;
    return { format, certificates, ownRoots };
  } catch {
    return undefined;
  }
}
