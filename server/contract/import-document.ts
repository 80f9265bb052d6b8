// Owns: sending a document to a server, for a plan or to apply that plan; used by the operator and the CLI.
// Does not own: the comparison, which the server does; the meaning of a refusal, which the caller decides.
// Implements: decisions "Import, export, plan": dry run, then the same document with the plan's revision in If-Match.
import { type Client, ServerProblem } from './client.ts';
import { importRealm, type Plan, type RealmDocument } from './transfer.ts';

/** A document, with the importing manager and the options. */
export interface DocumentImport {
  realm: string;
  manager: string;
  document: RealmDocument;
  /** Delete objects that the manager applied before and the document no longer declares. */
  prune: boolean;
  /** Take over objects of other managers. */
  force: boolean;
  signal?: AbortSignal;
}

async function importDocument(
  client: Client,
  { realm, manager, document, prune, force, signal }: DocumentImport,
  dryRun: boolean,
  ifMatch?: string,
): Promise<Plan> {
  const { body } = await client.call(importRealm, {
    params: { realm },
    query: { manager, dryRun: `${dryRun}`, prune: `${prune}`, force: `${force}` },
    body: document,
    headers: ifMatch === undefined ? {} : { 'if-match': ifMatch },
    ...(signal && { signal }),
  });
  if (!body) throw new ServerProblem(502, 'the server answered no plan');
  return body;
}

/**
 * Asks for the plan; nothing is written.
 * @param mustExist the document may not create the realm
 * @throws ServerProblem 412 if the realm must exist and doesn't
 */
export const planDocument = (
  client: Client,
  { mustExist, ...wanted }: DocumentImport & { mustExist: boolean },
): Promise<Plan> => importDocument(client, wanted, true, mustExist ? '*' : undefined);

/**
 * @param revision the realm's revision for which the plan was made; 0: the realm must not exist, `*`: it must exist, with any revision
 * @throws ServerProblem 412 if the realm has another revision
 */
export const applyDocument = (
  client: Client,
  { revision, ...wanted }: DocumentImport & { revision: number | '*' },
): Promise<Plan> => importDocument(client, wanted, false, revision === '*' ? revision : `"${revision}"`);
