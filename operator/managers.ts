// Who manages what in a realm, as the server knows it: all pages of its list. Decisions "Ownership".
import type { Client } from '../server/contract/client.ts';
import { listManagers, type Manager } from '../server/contract/transfer.ts';

async function* managers(client: Client, realm: string): AsyncGenerator<Manager> {
  let cursor: string | undefined;
  do {
    const query = { limit: 1000, ...(cursor === undefined ? {} : { cursor }) };
    const answer = await client.call(listManagers, { params: { realm }, query });
    yield* answer.body ?? [];
    cursor = answer.nextCursor;
  } while (cursor !== undefined);
}

export async function managersOf(client: Client, realm: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { manager } of managers(client, realm)) found.push(manager);
  return found;
}

/** The managers of a kind's objects, by the objects' keys. */
export async function ownersOf(client: Client, realm: string, kind: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { manager, owns } of managers(client, realm))
    for (const object of owns) if (object.kind === kind) found.set(object.key, manager);
  return found;
}
