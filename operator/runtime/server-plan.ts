// Asks the server for the plan of a document and applies just that plan. The comparing is all the server's.
// Decisions "Import, export, plan": dry run, then the same document with the plan's revision in If-Match.
import { type Client, ServerProblem } from '../../server/contract/client.ts';
import { importRealm, type Plan, type RealmDocument } from '../../server/contract/transfer.ts';
import { Waiting } from './outcome.ts';

export interface Ask {
  realm: string;
  manager: string;
  document: RealmDocument;
  /** Take over what other managers own. */
  force: boolean;
}

async function ask(
  client: Client,
  { realm, manager, document, force }: Ask,
  dry: boolean,
  headers: Record<string, string>,
) {
  const { body } = await client.call(importRealm, {
    params: { realm },
    query: { manager, dryRun: dry ? 'true' : 'false', prune: 'true', force: force ? 'true' : 'false' },
    body: document,
    headers,
  });
  if (!body) throw new ServerProblem(502, 'the server answered no plan');
  return body;
}

/**
 * @param mustExist the realm isn't ours to make
 * @throws Waiting where it doesn't exist
 */
export async function dryRun(client: Client, { mustExist, ...wanted }: Ask & { mustExist: boolean }): Promise<Plan> {
  return ask(client, wanted, true, mustExist ? { 'if-match': '*' } : {}).catch((error) => {
    if (!(mustExist && error instanceof ServerProblem && error.status === 412)) throw error;
    throw new Waiting('RealmMissing', `waiting for the realm ${wanted.realm} on the server`);
  });
}

/** @throws ServerProblem 412 where the realm changed since the plan */
export const applyPlan = (client: Client, { revision, ...wanted }: Ask & { revision: number }): Promise<Plan> =>
  ask(client, wanted, false, { 'if-match': `"${revision}"` });
