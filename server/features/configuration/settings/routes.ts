// Binds the routes of contract/settings.ts.
import type { FastifyInstance } from 'fastify';
import { getSettings, putSettings } from '../../../contract/settings.ts';
import type { Sql } from '../../../db/sql.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { shownWithManagers } from '../../../resource/managed-by.ts';
import type { SettingsService } from './service.ts';

/** The kinds of the answer's fields: a resource indicator is a part of one field. */
const kinds = { settings: null, resourceIndicator: 'resourceIndicators' };

export function settingsRoutes(app: FastifyInstance, { settings, sql }: { settings: SettingsService; sql: Sql }): void {
  bind(app, getSettings, async ({ params: { realm }, query, reply }) =>
    shownWithManagers({ sql, reply }, { realm, kinds, query }, await settings.get(realm)),
  );
  bind(app, putSettings, async ({ by, params: { realm }, body, expect, request, reply }) => {
    const saved = await settings.put({ principal: principalOf(request), by }, realm, body, expect);
    return shownWithManagers({ sql, reply }, { realm, kinds }, saved);
  });
}
