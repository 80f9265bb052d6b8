// Binds the routes of contract/keys.ts.
import type { FastifyInstance } from 'fastify';
import { deleteKey, listKeys, type RealmKey, rotateKeys } from '../../contract/keys.ts';
import { bind } from '../../http/bind.ts';
import { decodeCursor, page } from '../../http/paging.ts';
import type { Keys } from './service.ts';

const ACTIVE = 'active';
/** In the list's order: the active keys come first. As text, times of one length compare like numbers. */
const place = ({ rotatedAt }: RealmKey): string => (rotatedAt === null ? ACTIVE : String(rotatedAt));

export function keyRoutes(app: FastifyInstance, keys: Keys): void {
  bind(app, listKeys, async ({ params, query, request, reply }) => {
    const [rotatedAt, keyId = ''] = decodeCursor(query.cursor, 2) ?? [];
    // Few enough to be read at once: the active ones, then those that were retired last.
    const after = (key: RealmKey) =>
      rotatedAt === undefined ||
      (rotatedAt === place(key) ? key.keyId < keyId : rotatedAt === ACTIVE || place(key) < rotatedAt);
    const rows = (await keys.list(params.realm)).filter(after);
    return page({ request, reply }, rows, query.limit, (key) => [place(key), key.keyId]);
  });
  bind(app, rotateKeys, ({ by, params, body }) => keys.rotate(by, params.realm, body?.algorithm));
  bind(app, deleteKey, async ({ by, params }) => {
    await keys.remove(by, params.realm, params.keyId);
    return undefined;
  });
}
