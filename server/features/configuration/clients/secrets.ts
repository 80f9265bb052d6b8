// Owns: clients' secrets: their stored form, and generating a new one while the old one stays valid for a while.
// Does not own: client authentication (client-authentication), secrets that an administrator chose (resource.ts).
// Implements: decisions "Client", "Secrets"; specification 4.10.
import { TokenEndpointAuthMethod, usesSecret } from '../../../contract/client-authentication.ts';
import { Problem } from '../../../contract/problem.ts';
import { hashClientSecret, newClientSecret, sameClientSecret } from '../../../crypto/client-secret.ts';
import type { Passwords } from '../../../crypto/passwords.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import type { Author } from '../../../resource/api.ts';
import type { Resource } from '../../../resource/resource.ts';
import { refuseStronger } from '../../../resource/rights.ts';
import type { SecretAtRest } from '../../../resource/table.ts';

const Method = TokenEndpointAuthMethod.catch('none');

/**
 * Stores a strong secret by a fast hash, a weak one by a slow hash. Writing a new secret ends the previous one at once.
 */
export const hashedSecret = (passwords: Pick<Passwords, 'hash' | 'verify'>): SecretAtRest => ({
  columns: {
    secret_hash: 'bytea',
    secret_slow: 'text',
    previous_secret_hash: 'bytea',
    previous_secret_slow: 'text',
    previous_secret_expires_at: 'timestamptz',
  },
  none: ({ tokenEndpointAuthMethod }) => !usesSecret(Method.parse(tokenEndpointAuthMethod)),
  stored({ secret_hash, secret_slow }, { id }) {
    const hash = Buffer.isBuffer(secret_hash) ? secret_hash : null;
    const slow = typeof secret_slow === 'string' ? secret_slow : null;
    return hash || slow ? { id, matches: (plain) => sameClientSecret({ hash, slow }, plain, passwords) } : null;
  },
  async store(plain) {
    const { hash, slow } = await hashClientSecret(plain, passwords);
    return { secret_hash: hash, secret_slow: slow };
  },
});

/** Replaces the client's secret. The previous one works until `previousUntil`; null: it ends now. */
async function replaceSecret(
  sql: Sql,
  realm: string,
  id: string,
  { hash, previousUntil }: { hash: Buffer | null; previousUntil: Date | null },
): Promise<void> {
  await sql`
    update client set secret_hash = ${hash}, secret_slow = null, previous_secret_expires_at = ${previousUntil},
      previous_secret_hash = case when ${previousUntil}::timestamptz is not null then secret_hash end,
      previous_secret_slow = case when ${previousUntil}::timestamptz is not null then secret_slow end
    where realm_id = ${realm} and id = ${id}`;
}

export const createClientSecrets = ({
  transact,
  clients,
  passwords,
  now,
}: {
  transact: Transact;
  clients: Resource;
  passwords: Pick<Passwords, 'hash'>;
  now: () => Date;
}) => ({
  /** Generates a new secret, and returns it only here. */
  make: (
    { principal, by }: Author,
    realm: string,
    id: string,
    { graceSeconds = 0 }: { graceSeconds?: number | undefined } = {},
  ): Promise<{ clientId: string; secret: string; previousSecretExpiresAt: number | null }> =>
    transact(realm, async ({ sql: on, record }) => {
      const row = await clients.table.find(on, realm, { id }, { lock: true });
      if (!row) throw new Problem('not-found', 'There is no such client');
      const { key: clientId, fields } = row;
      await refuseStronger(on, principal, realm, [clientId]);
      const method = Method.parse(fields.tokenEndpointAuthMethod);
      if (!usesSecret(method)) throw new Problem('invalid-request', `A client with ${method} has no secret`);
      const secret = newClientSecret();
      const { hash } = await hashClientSecret(secret, passwords);
      const until = graceSeconds > 0 && fields.secret !== null ? new Date(now().getTime() + graceSeconds * 1000) : null;
      await replaceSecret(on, realm, id, { hash, previousUntil: until });
      const previousSecretExpiresAt = until?.getTime() ?? null;
      record({
        type: 'CLIENT_SECRET_CREATED',
        realm,
        by,
        subject: { type: 'client', id, name: clientId },
        clientId,
        data: { previousSecretExpiresAt },
      });
      return { clientId, secret, previousSecretExpiresAt };
    }),
});
export type ClientSecrets = ReturnType<typeof createClientSecrets>;
