// Asks the server for the plan of a document and applies just that plan. The comparing is all the server's.
// Decisions "Import, export, plan": dry run, then the same document with the plan's revision in If-Match.
import { type Client, ServerProblem } from '../../server/contract/client.ts';
import { importRealm, type Plan, type RealmDocument } from '../../server/contract/transfer.ts';
import { conflictText, Stalled, Waiting } from './outcome.ts';

export interface Ask {
  realm: string;
  manager: string;
  document: RealmDocument;
}

async function ask(client: Client, { realm, manager, document }: Ask, dry: boolean, headers: Record<string, string>) {
  const { body } = await client.call(importRealm, {
    params: { realm },
    query: { manager, dryRun: dry ? 'true' : 'false', prune: 'true' },
    body: document,
    headers,
  });
  if (!body) throw new ServerProblem(502, 'the server answered no plan');
  return body;
}

/**
 * @param mustExist the realm isn't ours to make
 * @throws Waiting where it doesn't exist, Stalled `Conflict` where another manager owns what the document declares
 */
export async function dryRun(client: Client, { mustExist, ...wanted }: Ask & { mustExist: boolean }): Promise<Plan> {
  const plan = await ask(client, wanted, true, mustExist ? { 'if-match': '*' } : {}).catch((error) => {
    if (!(mustExist && error instanceof ServerProblem && error.status === 412)) throw error;
    throw new Waiting('RealmMissing', `waiting for the realm ${wanted.realm} on the server`);
  });
  if (plan.conflicts.length > 0) throw new Stalled('Conflict', plan.conflicts.map(conflictText).join('; '));
  return plan;
}

/** @throws ServerProblem 412 where the realm changed since the plan */
export const applyPlan = (client: Client, { revision, ...wanted }: Ask & { revision: number }): Promise<Plan> =>
  ask(client, wanted, false, { 'if-match': `"${revision}"` });
