// Binds the routes of contract/settings.ts.
import type { FastifyInstance } from 'fastify';
import { getSettings, putSettings } from '../../contract/settings.ts';
import type { Sql } from '../../db/sql.ts';
import { bind } from '../../http/bind.ts';
import { markManaged } from '../../http/managed.ts';
import type { SettingsService } from './service.ts';
import { managersOf } from './store.ts';

export function settingsRoutes(app: FastifyInstance, { settings, sql }: { settings: SettingsService; sql: Sql }): void {
  bind(app, getSettings, async ({ params, reply }) => {
    markManaged(reply, ...(await managersOf(sql, params.realm)));
    return settings.get(params.realm);
  });
  bind(app, putSettings, async ({ by, params, body, expect, reply }) => {
    const saved = await settings.put(by, params.realm, body, expect);
    markManaged(reply, ...(await managersOf(sql, params.realm)));
    return saved;
  });
}
