// Binds the routes of contract/keys.ts.
import type { FastifyInstance } from 'fastify';
import { deleteKey, listKeys, rotateKeys } from '../../contract/keys.ts';
import { bind } from '../../http/bind.ts';
import type { Keys } from './service.ts';

export function keyRoutes(app: FastifyInstance, keys: Keys): void {
  bind(app, listKeys, ({ params }) => keys.list(params.realm));
  bind(app, rotateKeys, ({ by, params }) => keys.rotate(by, params.realm));
  bind(app, deleteKey, async ({ by, params }) => {
    await keys.remove(by, params.realm, params.keyId);
    return undefined;
  });
}
