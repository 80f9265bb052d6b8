// Encrypts a client's tokens and answers for its key, if it has registered how. OpenID Connect Core §10.2; JARM §3; RFC 9701 §5.
import { DEFAULT_CONTENT_ENCRYPTION } from '../../../contract/algorithms.ts';
import type { EncryptedAnswer } from '../../../contract/client-jwts.ts';
import { encryptionKeyFor } from '../../../domain/encryption-key.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { WithClientKeys } from '../clients/keys.ts';
import type { ClientView } from '../clients/view.ts';

export type Encrypts = Pick<ClientView, 'encryption' | 'jwks' | 'jwksUri'>;

/**
 * @param cty `JWT`: the content is signed; otherwise absent
 * @returns the content as it is, if the client has registered no encryption for this answer
 * @throws OAuthError `invalid_request`: none of the client's keys fits
 */
export type Encrypted = (client: Encrypts, answer: EncryptedAnswer, content: string, cty?: 'JWT') => Promise<string>;

/** Whether this answer is encrypted for the client. */
export const isEncrypted = ({ encryption }: Encrypts, answer: EncryptedAnswer): boolean =>
  (encryption?.[`${answer}EncryptedResponseAlg`] ?? null) !== null;

export const createEncryption =
  (withKeys: WithClientKeys): Encrypted =>
  async (client, answer, content, cty) => {
    const alg = client.encryption?.[`${answer}EncryptedResponseAlg`] ?? null;
    if (alg === null) return content;
    const enc = client.encryption?.[`${answer}EncryptedResponseEnc`] ?? DEFAULT_CONTENT_ENCRYPTION;
    const { encryptFor } = await import('../../../crypto/jwe.ts');
    try {
      return await withKeys(client, async ({ keys }) => {
        const key = encryptionKeyFor(keys, alg);
        if (!key) throw new Error(`no key for ${alg}`);
        return encryptFor(key, { content, alg, enc, cty });
      });
    } catch (cause) {
      throw new OAuthError('invalid_request', 'The application has no key that this answer can be encrypted for', {
        reason: cause instanceof Error ? cause.message.slice(0, 200) : 'its keys can’t be read',
        cause,
      });
    }
  };
