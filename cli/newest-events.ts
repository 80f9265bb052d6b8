// The newest events that match. The server ends a long search before it has a page of them; the cursor of its answer goes on.
import type { z } from 'zod';
import { type Event, listEvents } from '../server/contract/events.ts';
import type { Scope } from './kinds.ts';

type EventFilter = Omit<z.input<(typeof listEvents)['query']>, 'limit' | 'cursor'>;

/** @param searches how often the server is asked at the most; each takes it a second or so */
export async function newestEvents(
  { connection, realm, signal }: Scope,
  filter: EventFilter,
  { limit, searches = Number.POSITIVE_INFINITY }: { limit: number; searches?: number },
): Promise<Event[]> {
  const found: Event[] = [];
  let cursor: string | undefined;
  for (let asked = 0; asked < searches && found.length < limit; asked += 1) {
    const query = { ...filter, limit: limit - found.length, ...(cursor !== undefined && { cursor }) };
    const answer = await connection.client.call(listEvents, { params: { realm }, query, signal });
    found.push(...(answer.body ?? []));
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return found;
}
