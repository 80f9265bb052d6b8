// How a grant moves on: those against which nothing speaks together, in a group commit; any other in a transaction of its
// own, which says why. The statements and the reasons are each grant's (code.ts, refresh.ts). Group commit: db/group-commit.ts.
import { createGroupCommit } from '../../db/group-commit.ts';
import type { Transact, Tx } from '../../db/transact.ts';
import { accepted, type GrantCall, type Outcome } from './grant.ts';
import type { Held } from './store.ts';

export interface SettleOptions<Ask, Settled> {
  transact: Transact;
  /** In the order of `asks`; undefined: something speaks against it, and nothing was written for it. */
  settle(tx: Tx, asks: readonly Ask[], held: Held): Promise<readonly (Outcome<Settled> | undefined)[]>;
  /** Says why one was not settled, and ends what that ends. */
  otherwise(tx: Tx, ask: Ask): Promise<Outcome<Settled>>;
}

/** @throws OAuthError the refusal */
export function createSettling<Ask extends { call: GrantCall }, Settled>({
  transact,
  settle,
  otherwise,
}: SettleOptions<Ask, Settled>): (ask: Ask) => Promise<Settled> {
  const together = createGroupCommit<Ask, Outcome<Settled>>({
    transact,
    work: (tx, asks) => settle(tx, asks, 'pass over'),
  });
  const alone = async (tx: Tx, ask: Ask): Promise<Outcome<Settled>> => {
    const [outcome] = await settle(tx, [ask], 'wait');
    return outcome ?? otherwise(tx, ask);
  };
  return async (ask) => accepted((await together(ask)) ?? (await transact(ask.call.realm, (tx) => alone(tx, ask))));
}
