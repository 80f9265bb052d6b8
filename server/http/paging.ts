// Keyset paging: an opaque cursor in `Link: <…>; rel="next"` (RFC 8288). Decisions "Reading and writing".
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Problem } from '../contract/problem.ts';
import { isUuid } from '../crypto/ids.ts';

/** The key after which the next page begins, as the parts of the list's order. */
export const encodeCursor = (parts: readonly string[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url');

/** @throws Problem `invalid-request` if the cursor was not made by {@link encodeCursor} with `length` parts */
export function decodeCursor(cursor: string | undefined, length: number): string[] | undefined {
  if (cursor === undefined) return undefined;
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (
      Array.isArray(parts) &&
      parts.length === length &&
      parts.every((p) => typeof p === 'string' && !p.includes('\0'))
    )
      return parts;
  } catch {
    // falls through to the refusal
  }
  throw notACursor();
}

export const notACursor = (): Problem =>
  new Problem('invalid-request', undefined, { errors: [{ path: 'cursor', message: 'is not a cursor of this list' }] });

/** The cursor of a list that is ordered by several ids. */
export function cursorIds(cursor: string | undefined, length: number): string[] | undefined {
  const ids = decodeCursor(cursor, length);
  if (ids && !ids.every(isUuid)) throw notACursor();
  return ids;
}

/** The cursor of a list that is ordered only by an id. */
export const cursorId = (cursor: string | undefined): string | undefined => cursorIds(cursor, 1)?.[0];

const TimeCursor = z.tuple([z.coerce.number().int().min(0).max(8.64e15), z.uuid()]);

/** The cursor of a list that is ordered by a time, and then by an id. Clients can send any text. */
export function cursorTime(cursor: string | undefined): { at: Date; id: string } | undefined {
  const parts = decodeCursor(cursor, 2);
  if (!parts) return undefined;
  const place = TimeCursor.safeParse(parts).data;
  if (!place) throw notACursor();
  return { at: new Date(place[0]), id: place[1] };
}

const TOTAL = 'x-total-count';

/**
 * Removes the look-ahead row (ask the store for `limit + 1`) and sets the Link header if there is one. A list on a
 * single page gets its total; for a longer one, counting would cost more than reading a page.
 * @param keyOf the row's key in the list's order
 * @param until the key at which a search stopped before it had a page: the next page goes on from there
 */
export function page<T>(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  rows: readonly T[],
  limit: number,
  keyOf: (row: T) => readonly string[],
  until?: readonly string[],
): T[] {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const url = new URL(request.url, 'http://host');
  const next = rows.length > limit && last !== undefined ? keyOf(last) : until;
  if (!next && !url.searchParams.has('cursor') && !reply.hasHeader(TOTAL))
    void reply.header(TOTAL, String(rows.length));
  if (next) {
    url.searchParams.set('cursor', encodeCursor(next));
    void reply.header('link', `<${url.pathname}${url.search}>; rel="next"`);
  }
  return shown;
}

/** A page of a list that is ordered by when something began. */
export const startedPage = <T extends { startedAt: number; id: string }>(
  at: { request: FastifyRequest; reply: FastifyReply },
  rows: readonly T[],
  limit: number,
): T[] => page(at, rows, limit, (row) => [String(row.startedAt), row.id]);

/** The text with the wildcards of `like` escaped. */
export const likeText = (text: string): string => text.replace(/[\\%_]/g, (c) => `\\${c}`);

/** A pattern for `ilike`: the text anywhere; undefined without a search text. */
export const containsPattern = (q: string | undefined): string | undefined =>
  q === undefined || q === '' ? undefined : `%${likeText(q)}%`;
