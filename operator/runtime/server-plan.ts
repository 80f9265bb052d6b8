// Asks the server for the plan of a resource's document, which holds all that the resource's manager declares.
// The asking itself is the wire's (server/contract/planning.ts). Decisions "Custom resources" (Waiting).
import { type Client, ServerProblem } from '../../server/contract/client.ts';
import { type Asked, applyDocument, planDocument } from '../../server/contract/planning.ts';
import type { Plan } from '../../server/contract/transfer.ts';
import { Waiting } from './outcome.ts';

type Ask = Omit<Asked, 'prune' | 'signal'>;

/**
 * @param mustExist the realm isn't ours to make
 * @throws Waiting where it doesn't exist
 */
export async function dryRun(client: Client, wanted: Ask & { mustExist: boolean }): Promise<Plan> {
  return planDocument(client, { ...wanted, prune: true }).catch((error) => {
    if (!(wanted.mustExist && error instanceof ServerProblem && error.status === 412)) throw error;
    throw new Waiting('RealmMissing', `waiting for the realm ${wanted.realm} on the server`);
  });
}

/** @throws ServerProblem 412 where the realm changed since the plan */
export const applyPlan = (client: Client, wanted: Ask & { revision: number }): Promise<Plan> =>
  applyDocument(client, { ...wanted, prune: true });
