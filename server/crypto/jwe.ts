// Compact JWEs (RFC 7516) by jose: loaded with the first that is needed.

import type { KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
// by their own names: what is imported from jose's index is in one file of the bundle with all that the start needs of it
import { compactDecrypt } from 'jose/jwe/compact/decrypt';
import { CompactEncrypt } from 'jose/jwe/compact/encrypt';

/** @param cty `JWT` where the content is one (RFC 7519 §5.2) */
export const encryptFor = (
  jwk: JWK,
  { content, ...header }: { content: string; alg: string; enc: string; cty?: string | undefined },
): Promise<string> => {
  const { alg, enc, cty } = header;
  return new CompactEncrypt(Buffer.from(content))
    .setProtectedHeader({ alg, enc, ...(cty !== undefined && { cty }), ...(jwk.kid !== undefined && { kid: jwk.kid }) })
    .encrypt(jwk);
};

/** The content, by the first key that fits; undefined: by none, or it is encrypted otherwise. */
export async function decryptBy(
  keys: readonly KeyObject[],
  jwe: string,
  { algorithms, contents }: { algorithms: readonly string[]; contents: readonly string[] },
): Promise<string | undefined> {
  const options = { keyManagementAlgorithms: [...algorithms], contentEncryptionAlgorithms: [...contents] };
  for (const key of keys) {
    const content = await compactDecrypt(jwe, key, options).catch(() => undefined);
    if (content) return Buffer.from(content.plaintext).toString();
  }
  return undefined;
}
