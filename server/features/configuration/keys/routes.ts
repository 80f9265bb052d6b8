// Binds the routes of contract/keys.ts.
import type { FastifyInstance } from 'fastify';
import { deleteKey, listKeys, type RealmKey, rotateKeys } from '../../../contract/keys.ts';
import { bind } from '../../../http/bind.ts';
import { decodeCursor, page } from '../../../http/paging.ts';
import type { Keys } from './service.ts';

const LAST = Number.MAX_SAFE_INTEGER;
/** A key's position in the descending list: the active keys come first, the RSA key before the others. */
const place = ({ rotatedAt, algorithm }: RealmKey): number => rotatedAt ?? (algorithm === 'RSA' ? LAST : LAST - 1);

export function keyRoutes(app: FastifyInstance, keys: Keys): void {
  bind(app, listKeys, async ({ params, query, request, reply }) => {
    const [from, keyId = ''] = decodeCursor(query.cursor, 2) ?? [];
    // A realm has so few keys that all are read at once: the active ones, then the latest retired ones.
    const after = (key: RealmKey) =>
      from === undefined || place(key) < Number(from) || (place(key) === Number(from) && key.keyId < keyId);
    const rows = (await keys.list(params.realm)).filter(after);
    return page({ request, reply }, rows, query.limit, (key) => [String(place(key)), key.keyId]);
  });
  bind(app, rotateKeys, ({ by, params, body }) => keys.rotate(by, params.realm, body?.algorithm));
  bind(app, deleteKey, async ({ by, params }) => {
    await keys.remove(by, params.realm, params.keyId);
    return undefined;
  });
}
