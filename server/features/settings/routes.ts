// Binds the routes of contract/settings.ts.
import type { FastifyInstance } from 'fastify';
import { getSettings, putSettings } from '../../contract/settings.ts';
import { bind } from '../../http/bind.ts';
import type { SettingsService } from './service.ts';

export function settingsRoutes(app: FastifyInstance, settings: SettingsService): void {
  bind(app, getSettings, ({ params }) => settings.get(params.realm));
  bind(app, putSettings, ({ by, params, body, expect }) => settings.put(by, params.realm, body, expect));
}
