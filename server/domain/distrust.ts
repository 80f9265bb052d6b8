// What follows for one feature's objects when a person says that a sign-in wasn't theirs: it takes back what that sign-in set up or
// changed. features/authentication/new-device calls each, in the transaction of the report. Specification 2.6.
import type { By } from '../contract/events.ts';
import type { Tx } from '../db/transact.ts';

export type Distrust = (
  tx: Tx,
  by: By,
  realm: string,
  user: { id: string; username: string },
  /** `changed`: fields of the person that were changed since, and that the audit log doesn't name any more. */
  at: { since: Date; changed: readonly string[] },
) => Promise<unknown>;
