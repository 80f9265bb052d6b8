// Google Cloud KMS: encryption by a symmetric key, over its REST interface. gcpkms://projects/P/locations/L/keyRings/R/cryptoKeys/K.
// Checksums go with everything that is sent, and those of the answers are compared.
import { z } from 'zod';
import { type Custodian, CustodianError, WRAPPED_FOR } from '../custodian.ts';
import type { ByHttp } from './by-http.ts';
import { crc32c } from './crc32c.ts';
import { addressIn, authorized, hostOf, keepCredential } from './credentials.ts';
import { googleHosts, googleToken } from './google-credentials.ts';
import { base64, jsonCall } from './json-call.ts';

/** An int64 is text in Google's JSON. */
const Checksum = z.union([z.string().regex(/^\d+$/), z.int()]).transform(Number);
const Encrypted = z.object({
  ciphertext: base64,
  ciphertextCrc32c: Checksum,
  verifiedPlaintextCrc32c: z.boolean().default(false),
  verifiedAdditionalAuthenticatedDataCrc32c: z.boolean().default(false),
});
const Decrypted = z.object({ plaintext: base64, plaintextCrc32c: Checksum });

const AAD = Buffer.from(WRAPPED_FOR);
const bound = {
  additionalAuthenticatedData: AAD.toString('base64'),
  additionalAuthenticatedDataCrc32c: String(crc32c(AAD)),
};

/** @returns the name of the key. @throws Error that names the variable */
function googlePlace(uri: string): string {
  const part = String.raw`[\w.:-]+`;
  const form = new RegExp(`^gcpkms://(projects/${part}/locations/${part}/keyRings/${part}/cryptoKeys/${part})$`);
  const [, key] = form.exec(uri) ?? [];
  if (key === undefined)
    throw new Error(
      'SVC_KEY_CUSTODIAN: must be gcpkms://projects/PROJECT/locations/LOCATION/keyRings/RING/cryptoKeys/KEY, without a version',
    );
  return key;
}

function unchanged(bytes: Buffer, checksum: number, received = true): Buffer {
  if (received && crc32c(bytes) === checksum) return bytes;
  throw new CustodianError('a checksum differs: the request or the answer was changed on its way', { away: true });
}

export function openGoogleKms(uri: string, { config, outboundTo, now }: ByHttp): Custodian {
  const key = googlePlace(uri);
  const address = addressIn(config.SVC_GOOGLE_KMS_URL ?? 'https://cloudkms.googleapis.com', 'SVC_GOOGLE_KMS_URL');
  const outbound = outboundTo([hostOf(address), ...googleHosts(config)]);
  const credential = keepCredential(() => googleToken(config, { outbound, now }), now);

  const ask = <T>(operation: 'encrypt' | 'decrypt', parameters: object, answer: z.ZodType<T>): Promise<T> =>
    authorized(
      credential,
      ({ status }) => status === 401,
      (token) =>
        jsonCall(outbound, `${address}/v1/${key}:${operation}`, {
          headers: { authorization: `Bearer ${token}` },
          body: { ...bound, ...parameters },
          secrets: [token],
          answer,
        }),
    );

  return {
    name: uri,
    async wrap(dataKey) {
      const sent = { plaintext: dataKey.toString('base64'), plaintextCrc32c: String(crc32c(dataKey)) };
      const got = await ask('encrypt', sent, Encrypted);
      const received = got.verifiedPlaintextCrc32c && got.verifiedAdditionalAuthenticatedDataCrc32c;
      return unchanged(got.ciphertext, got.ciphertextCrc32c, received);
    },
    async unwrap(wrapped) {
      const sent = { ciphertext: wrapped.toString('base64'), ciphertextCrc32c: String(crc32c(wrapped)) };
      const got = await ask('decrypt', sent, Decrypted);
      return unchanged(got.plaintext, got.plaintextCrc32c);
    },
    close: () => outbound.close(),
  };
}
