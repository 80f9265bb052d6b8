// A resource's document, which holds all that the resource's manager declares, planned and applied by the server.
// The requests are the wire's (server/contract/import-document.ts). Decisions "Custom resources" (Waiting).
import { type Client, ServerProblem } from '../../server/contract/client.ts';
import { applyDocument, type DocumentImport, planDocument } from '../../server/contract/import-document.ts';
import type { Plan } from '../../server/contract/transfer.ts';
import { Waiting } from './outcome.ts';

type Import = Omit<DocumentImport, 'prune' | 'signal'>;
/** `mustExist`: the realm isn't ours to make. */
type Wanted<T> = T & { mustExist: boolean };

/** @throws Waiting where the realm must exist and doesn't */
export const dryRun = (client: Client, wanted: Wanted<Import>): Promise<Plan> =>
  planDocument(client, { ...wanted, prune: true }).catch((refusal) => missing(wanted, refusal));

/**
 * Planned and applied in one request, taking nothing from other managers.
 * @throws Waiting where the realm must exist and doesn't; ServerProblem 412 where it must not and does
 */
export const applyUnplanned = (client: Client, wanted: Wanted<Omit<Import, 'force'>>): Promise<Plan> =>
  applyDocument(client, { ...wanted, prune: true, force: false, revision: wanted.mustExist ? '*' : 0 }).catch(
    (refusal) => missing(wanted, refusal),
  );

/** @throws ServerProblem 412 where the realm changed since the plan */
export const applyPlan = (client: Client, wanted: Import & { revision: number }): Promise<Plan> =>
  applyDocument(client, { ...wanted, prune: true });

function missing({ realm, mustExist }: Wanted<{ realm: string }>, refusal: unknown): never {
  if (!(mustExist && refusal instanceof ServerProblem && refusal.status === 412)) throw refusal;
  throw new Waiting('RealmMissing', `waiting for the realm ${realm} on the server`);
}
