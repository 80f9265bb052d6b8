// Checks each write of users to their own account through the API: within the write's transaction, the session that
// authenticated the request must still exist (domain/proof.ts).
import { Problem } from '../../../contract/problem.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import type { AccountHolder, OwnSession } from '../../../domain/principal.ts';
import { isWithdrawn, mustHold } from '../../../domain/proof.ts';

export function createAsThemselves({ transact }: { transact: Transact }) {
  const holds = (tx: Tx, realm: string, { userId, sessionId }: AccountHolder) =>
    mustHold(tx.sql, realm, { userId, credentials: [], sessionId });
  const told = <T>(written: Promise<T>): Promise<T> =>
    written.catch((error: unknown) => {
      throw isWithdrawn(error)
        ? new Problem('unauthenticated', 'Your session has ended in the meantime: sign in again')
        : error;
    });
  return {
    told,
    write: <T>(realm: string, holder: AccountHolder, work: (tx: Tx) => Promise<T>): Promise<T> =>
      told(
        transact(realm, async (tx) => {
          await holds(tx, realm, holder);
          return work(tx);
        }),
      ),
    /** The check before `work`, for a transaction that another module begins. */
    check:
      <A extends unknown[]>(realm: string, holder: AccountHolder, work: (tx: Tx, ...args: A) => Promise<void>) =>
      async (tx: Tx, ...args: A): Promise<void> => {
        await holds(tx, realm, holder);
        await work(tx, ...args);
      },
    /** The session that stays when all others end. */
    keep: ({ sessionId }: AccountHolder): OwnSession | undefined =>
      sessionId === undefined ? undefined : { sessionId },
  };
}
export type AsThemselves = ReturnType<typeof createAsThemselves>;
