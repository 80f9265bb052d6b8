// The function of a feature that adds its objects to a new realm. Each feature exports one from its seed.ts;
// server/compose/operations.ts lists them in order.
import type { By } from '../../../contract/events.ts';
import type { Tx } from '../../../db/transact.ts';

/** Runs in the transaction that creates the realm. In the audit log, REALM_CREATED covers all of it. */
export type RealmSeed = (tx: Tx, realm: string, by: By) => Promise<void>;
