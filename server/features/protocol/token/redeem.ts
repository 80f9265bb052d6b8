// Redeems a code or a refresh token: its row is locked and read, judged by a pure function (judge.ts), and written
// last, in the commit's message. Accepted ones share a group commit. A refused one gets a transaction of its own, which
// has the refusal's effect. If two requests present the same value at once, one is first, and the other finds the
// changed row.
import { CIBA, DEVICE_CODE } from '../../../contract/oauth.ts';
import { createGroupCommit } from '../../../db/group-commit.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import type { WhenLocked } from '../../../domain/grants.ts';
import { userParty } from '../../../domain/party.ts';
import { refusedEvent } from '../../../events/refusals.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Families } from './families.ts';
import type { GrantCall } from './grant.ts';
import type { Passed, Refused, Verdict } from './judge.ts';

/** A request to redeem a code or refresh token. */
export interface Redemption {
  call: GrantCall;
  /** The key of its row within the realm. */
  key: string;
}
export type RedeemedRow<Row> = { row: Row } & Passed;
type Outcome<Row> = { ok: true; taken: RedeemedRow<Row> } | { ok: false; refusal: OAuthError };

/** How the audit log names the reused credential, by grant type. */
const WHAT: Record<string, string> = { [DEVICE_CODE]: 'device_code', [CIBA]: 'auth_req_id' };

export interface RedeemingOptions<A extends Redemption, Row extends { n: number }> {
  transact: Transact;
  families: Families;
  grantType: string;
  /** Locks and reads the rows: `n` is the index in `redemptions`; a missing code or token has no row. */
  lock(sql: Sql, redemptions: readonly A[], whenLocked: WhenLocked): Promise<readonly Row[]>;
  judge(redemption: A, row: Row | undefined): Verdict;
  /** Writes and records. */
  take(tx: Tx, passed: readonly { redemption: A; taken: RedeemedRow<Row> }[]): void;
  /** The grant that the row belongs to, or that its code has begun. */
  familyOf(row: Row): { familyId: string; userId: string } | undefined;
  useUp?(tx: Tx, redemption: A): void;
}

/** @throws OAuthError the refusal */
export function createRedeeming<A extends Redemption, Row extends { n: number }>({
  transact,
  families,
  grantType,
  lock,
  judge,
  take,
  familyOf,
  useUp = () => {},
}: RedeemingOptions<A, Row>): (redemption: A) => Promise<RedeemedRow<Row>> {
  /** A refusal that changes something is a value, since an exception would roll back its audit row. */
  async function refuse(tx: Tx, redemption: A, row: Row | undefined, refused: Refused): Promise<OAuthError> {
    const { error, description, reason, effect } = refused;
    const unchanged = new OAuthError(error, description, reason === undefined ? {} : { reason });
    const family = row && familyOf(row);
    const { call } = redemption;
    const { realm, client, by } = call;
    if (effect === 'nothing') throw unchanged;
    if (effect === 'use up') useUp(tx, redemption);
    else if (family) {
      const ended = await families.end(tx, call, family.familyId);
      if (effect === 'reuse' && !ended) throw unchanged;
    }
    if (effect === 'reuse')
      tx.record({
        type: 'TOKEN_REUSE_DETECTED',
        realm,
        by,
        clientId: client.clientId,
        subject: userParty(family?.userId ?? null, null),
        outcome: 'denied',
        data: { what: WHAT[grantType] ?? grantType },
      });
    const refusal = new OAuthError(error, description, { ...(reason !== undefined && { reason }), audited: true });
    tx.record(refusedEvent(call, client.clientId, grantType, refusal));
    return refusal;
  }

  async function together(tx: Tx, redemptions: readonly A[]): Promise<(RedeemedRow<Row> | undefined)[]> {
    const rows = new Map((await lock(tx.sql, redemptions, 'pass over')).map((row) => [row.n, row]));
    const taken = new Set<string>();
    const results = redemptions.map((redemption, n): RedeemedRow<Row> | undefined => {
      const row = rows.get(n);
      const key = `${redemption.call.realm} ${redemption.key}`;
      if (!row || taken.has(key)) return undefined;
      const verdict = judge(redemption, row);
      if (!verdict.ok) return undefined;
      taken.add(key);
      return { row, ...verdict };
    });
    const passed = redemptions.flatMap((redemption, n) => {
      const one = results[n];
      return one ? [{ redemption, taken: one }] : [];
    });
    if (passed.length > 0) take(tx, passed);
    return results;
  }

  async function alone(tx: Tx, redemption: A): Promise<Outcome<Row>> {
    const [row] = await lock(tx.sql, [redemption], 'wait');
    const verdict = judge(redemption, row);
    if (!verdict.ok) return { ok: false, refusal: await refuse(tx, redemption, row, verdict) };
    if (!row) throw new Error('a request without a row passed');
    const taken = { row, ...verdict };
    take(tx, [{ redemption, taken }]);
    return { ok: true, taken };
  }

  const inGroup = createGroupCommit<A, RedeemedRow<Row>>({ transact, work: together });
  return async (redemption) => {
    const taken = await inGroup(redemption);
    if (taken) return taken;
    const outcome = await transact(redemption.call.realm, (tx) => alone(tx, redemption));
    if (!outcome.ok) throw outcome.refusal;
    return outcome.taken;
  };
}
