// What devices sign: a JWS that says for which address it is and when it was made, so that it is of use nowhere else and not for
// long. What else it must say is each request's. RFC 7515; in the manner of RFC 9449.
import { compactVerify, importJWK } from 'jose';
import { z } from 'zod';
import type { DeviceKey } from '../../../contract/devices.ts';

const PROOF_TYPE = 'device+jwt';
const MAX_AGE_SECONDS = 120;
/** A clock may be ahead. */
const AHEAD_SECONDS = 60;

const Header = z.looseObject({ alg: z.string(), typ: z.literal(PROOF_TYPE), kid: z.uuid().optional() });
const Claims = z.looseObject({ aud: z.string(), iat: z.int() });
export type ProofClaims = z.infer<typeof Claims>;

const algorithmOf = ({ kty }: DeviceKey): 'ES256' | 'EdDSA' => (kty === 'EC' ? 'ES256' : 'EdDSA');

const json = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes));

/** Whose proof it says it is; undefined: it is none. Nothing of it is checked. */
export function signerOf(jws: string): string | undefined {
  try {
    return Header.parse(json(Buffer.from(jws.split('.')[0] ?? '', 'base64url'))).kid;
  } catch {
    return undefined;
  }
}

/** What it says; undefined: it is not signed by this key, or not for this address and moment. */
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
    // Whatever is wrong with it, it proves nothing.
    return undefined;
  }
}
