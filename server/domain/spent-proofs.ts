// Owns: the list of used proofs that count once and have no row of their own: the challenge that a passkey signed, a ticket of the
// account API. Client assertions and DPoP proofs have tables of their own, with the same statement. All replicas share the table, so
// the second use fails at any of them.
// Does not own: how long a proof is good (each proof says so); deleting expired rows (jobs/janitor.ts).
// Implements: WebAuthn Level 3 §13.4.3 (a challenge is used once).
import { sha256 } from '../crypto/tokens.ts';
import { type Fragment, fragment, type Sql } from '../db/sql.ts';

/** A proof that counts once. */
export interface SingleUseProof {
  digest: Buffer;
  /** When the proof itself expires. */
  expiresAt: Date;
}

/** @param kind separates proofs of different kinds, which can have the same text */
export const singleUseProof = (kind: string, proof: string, expiresAt: Date): SingleUseProof => ({
  digest: sha256(`spent:${kind}:${proof}`),
  expiresAt,
});

/**
 * A part of a statement: it returns one row if the proof is used for the first time, else none.
 * @param insert inserts the proof's row into a table whose key is the proof
 */
const onlyOnce = (insert: Fragment): Fragment => fragment`${insert} on conflict do nothing returning realm_id`;

/** @returns whether the proof is used for the first time. If two uses come at once, the second waits for the first one's transaction. */
export const isFirstUse = async (sql: Sql, insert: Fragment): Promise<boolean> =>
  (await sql`${onlyOnce(insert)}`).length > 0;

const insertion = (realm: string, { digest, expiresAt }: SingleUseProof): Fragment => fragment`
  insert into spent_proof (realm_id, digest, expires_at) values (${realm}, ${digest}::bytea, ${expiresAt}::timestamptz)`;

/** Statement that spends the proof; it returns no row if the proof was spent before. */
export const spendingStatement = (realm: string, proof: SingleUseProof): Fragment => onlyOnce(insertion(realm, proof));

/** Spends the proof. @returns false if it was spent before */
export const spendProof = (sql: Sql, realm: string, proof: SingleUseProof): Promise<boolean> =>
  isFirstUse(sql, insertion(realm, proof));
