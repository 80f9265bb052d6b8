// The proof that a device signs: a JWS that names the address it is for and the time it was made, so that it works nowhere
// else and not for long. Each request adds the claims that it needs. RFC 7515; modelled on RFC 9449.
import { compactVerify } from 'jose/jws/compact/verify';
import { importJWK } from 'jose/key/import';
import { z } from 'zod';
import type { DeviceKey } from '../../../contract/devices.ts';

const PROOF_TYPE = 'device+jwt';
const MAX_AGE_SECONDS = 120;
/** The device's clock may be ahead by this much. */
const AHEAD_SECONDS = 60;

const Header = z.looseObject({ alg: z.string(), typ: z.literal(PROOF_TYPE), kid: z.uuid().optional() });
const Claims = z.looseObject({ aud: z.string(), iat: z.int() });
export type ProofClaims = z.infer<typeof Claims>;

const algorithmOf = ({ kty }: DeviceKey): 'ES256' | 'EdDSA' => (kty === 'EC' ? 'ES256' : 'EdDSA');

const json = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes));

/** The key id that the proof claims to be signed with; undefined: it is no proof. Nothing is verified yet. */
export function signerOf(jws: string): string | undefined {
  try {
    return Header.parse(json(Buffer.from(jws.split('.')[0] ?? '', 'base64url'))).kid;
  } catch {
    return undefined;
  }
}

/**
 * Verifies a proof and returns its claims; undefined: it isn't signed by this key, or not for this address, or is too old.
 */
export async function verifiedDeviceProof(
  jws: string,
  { key, audience, now }: { key: DeviceKey; audience: string; now: Date },
): Promise<ProofClaims | undefined> {
  try {
    const algorithm = algorithmOf(key);
    const { payload, protectedHeader } = await compactVerify(jws, await importJWK(key, algorithm), {
      algorithms: [algorithm],
    });
    Header.parse(protectedHeader);
    const claims = Claims.parse(json(payload));
    const age = now.getTime() / 1000 - claims.iat;
    return claims.aud === audience && age <= MAX_AGE_SECONDS && age >= -AHEAD_SECONDS ? claims : undefined;
  } catch {
    // A malformed proof and a wrong signature are the same: no proof.
    return undefined;
  }
}
