// Owns: a document sent to a server, for its plan, or to apply just that plan; for the operator and the CLI alike.
// Does not own: the comparing; that is the server's. What a refusal means is for the caller to say.
// Implements: decisions "Import, export, plan": dry run, then the same document with the plan's revision in If-Match.
import { type Client, ServerProblem } from './client.ts';
import { importRealm, type Plan, type RealmDocument } from './transfer.ts';

/** A document, and as whom and how it is to be taken. */
export interface DocumentImport {
  realm: string;
  manager: string;
  document: RealmDocument;
  /** Delete what the manager applied before and the document no longer holds. */
  prune: boolean;
  /** Take over what other managers own. */
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
 * What would change; nothing is written.
 * @param mustExist the realm isn't the document's to make
 * @throws ServerProblem 412 where it must exist and doesn't
 */
export const planDocument = (
  client: Client,
  { mustExist, ...wanted }: DocumentImport & { mustExist: boolean },
): Promise<Plan> => importDocument(client, wanted, true, mustExist ? '*' : undefined);

/**
 * @param revision of the realm that the plan was made for; 0: it must not exist, `*`: it must, whatever its revision
 * @throws ServerProblem 412 where that isn't so
 */
export const applyDocument = (
  client: Client,
  { revision, ...wanted }: DocumentImport & { revision: number | '*' },
): Promise<Plan> => importDocument(client, wanted, false, revision === '*' ? revision : `"${revision}"`);
