// Binds the routes of contract/settings.ts.
import type { FastifyInstance } from 'fastify';
import { getSettings, putSettings } from '../../../contract/settings.ts';
import type { Sql } from '../../../db/sql.ts';
import { managersOf } from '../../../domain/ownership.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { markManaged } from '../../../http/managed.ts';
import type { SettingsService } from './service.ts';

const SETTINGS = ['settings', 'resourceIndicator'] as const;

export function settingsRoutes(app: FastifyInstance, { settings, sql }: { settings: SettingsService; sql: Sql }): void {
  bind(app, getSettings, async ({ params, reply }) => {
    markManaged(reply, ...(await managersOf(sql, params.realm, SETTINGS)));
    return settings.get(params.realm);
  });
  bind(app, putSettings, async ({ by, params, body, expect, request, reply }) => {
    const saved = await settings.put({ principal: principalOf(request), by }, params.realm, body, expect);
    markManaged(reply, ...(await managersOf(sql, params.realm, SETTINGS)));
    return saved;
  });
}
