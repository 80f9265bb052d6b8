// Who manages something in a realm, as the server knows it: all pages of its list. Decisions "Ownership".
import type { Client } from '../server/contract/client.ts';
import { listManagers } from '../server/contract/transfer.ts';

export async function managersOf(client: Client, realm: string): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: 1000, ...(cursor === undefined ? {} : { cursor }) };
    const answer = await client.call(listManagers, { params: { realm }, query });
    found.push(...(answer.body ?? []).map(({ manager }) => manager));
    cursor = answer.nextCursor;
  } while (cursor !== undefined);
  return found;
}
