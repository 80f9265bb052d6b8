// The user reports that a sign-in wasn't theirs: each feature reverts the objects that this sign-in set up or changed.
// features/authentication/new-device calls every feature in the report's transaction. Specification 2.6.
import type { By } from '../contract/events.ts';
import type { Tx } from '../db/transact.ts';

export type Distrust = (
  tx: Tx,
  by: By,
  realm: string,
  user: { id: string; username: string },
  /** `changed`: fields of the user that changed since then and that the audit log no longer names. */
  at: { since: Date; changed: readonly string[] },
) => Promise<unknown>;
