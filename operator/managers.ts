// Lists a realm's managers and the owners of its objects, as the server reports them. Decisions "Ownership".
import { allRows, type Client } from '../server/contract/client.ts';
import { listManagers } from '../server/contract/transfer.ts';

export async function managersOf(client: Client, realm: string): Promise<string[]> {
  // One that owns much is on several pages.
  const found = new Set<string>();
  for await (const { manager } of allRows(client, listManagers, { params: { realm } })) found.add(manager);
  return [...found];
}

/** The managers of a kind's objects, by object key. */
export async function ownersOf(client: Client, realm: string, kind: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { manager, owns } of allRows(client, listManagers, { params: { realm } }))
    for (const object of owns) if (object.kind === kind) found.set(object.key, manager);
  return found;
}
