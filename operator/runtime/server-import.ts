// Sends a resource's document, which contains all that the resource's manager declares, to the server, which plans and
// applies it. server/contract/import-document.ts defines the requests. Decisions "Custom resources" (Waiting).
import { type Client, ServerProblem } from '../../server/contract/client.ts';
import { applyDocument, type DocumentImport, planDocument } from '../../server/contract/import-document.ts';
import type { Plan } from '../../server/contract/transfer.ts';
import { Waiting } from './outcome.ts';

type Import = Omit<DocumentImport, 'prune' | 'signal'>;
/** `mustExist`: the resource must not create the realm. */
type Wanted<T> = T & { mustExist: boolean };

/** @throws Waiting if the realm must exist and doesn't */
export const dryRun = (client: Client, wanted: Wanted<Import>): Promise<Plan> =>
  planDocument(client, { ...wanted, prune: true }).catch((refusal) => missing(wanted, refusal));

/**
 * Plans and applies in one request, and takes no objects from other managers.
 * @throws Waiting if the realm must exist and doesn't; ServerProblem 412 if it must not exist and does
 */
export const applyUnplanned = (client: Client, wanted: Wanted<Omit<Import, 'force'>>): Promise<Plan> =>
  applyDocument(client, { ...wanted, prune: true, force: false, revision: wanted.mustExist ? '*' : 0 }).catch(
    (refusal) => missing(wanted, refusal),
  );

/** @throws ServerProblem 412 if the realm has changed since the plan */
export const applyPlan = (client: Client, wanted: Import & { revision: number }): Promise<Plan> =>
  applyDocument(client, { ...wanted, prune: true });

function missing({ realm, mustExist }: Wanted<{ realm: string }>, refusal: unknown): never {
  if (!(mustExist && refusal instanceof ServerProblem && refusal.status === 412)) throw refusal;
  throw new Waiting('RealmMissing', `waiting for the realm ${realm} on the server`);
}
