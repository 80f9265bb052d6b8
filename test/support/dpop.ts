// Owns: a key of an application, and proofs of it (RFC 9449), good ones and others.
// Does not own: what a proof is asked for by (clients.ts).
// Implements: tests of tokens that are bound to a key.
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';

export interface ProofParts {
  htm?: string;
  htu?: string;
  typ?: string;
  header?: object;
  claims?: object;
}

export async function makeProofKey() {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  return {
    privateKey,
    jwk,
    jkt: await calculateJwkThumbprint(jwk),
    proof: ({ htm = 'POST', htu = '', typ = 'dpop+jwt', header = {}, claims = {} }: ProofParts = {}): Promise<string> =>
      new SignJWT({ htm, htu, jti: crypto.randomUUID(), iat: Math.floor(Date.now() / 1000), ...claims })
        .setProtectedHeader({ alg: 'ES256', typ, jwk, ...header })
        .sign(privateKey),
  };
}
export type ProofKey = Awaited<ReturnType<typeof makeProofKey>>;
