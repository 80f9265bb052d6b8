// The composition root's part for messaging: its drivers, its job, and what other features send by. It decides nothing.
// Specification 4.4.
import type { FastifyInstance } from 'fastify';
import type { Channel } from './contract/message-drivers.ts';
import type { Seal } from './crypto/seal.ts';
import { createRealmCache } from './db/cache.ts';
import type { RealmSql } from './db/realm-share.ts';
import type { Sql } from './db/sql.ts';
import type { Transact } from './db/transact.ts';
import { createRateLimit } from './domain/rate-limit.ts';
import { type MessageJobDeps, messageJob } from './features/configuration/messaging/delivery.ts';
import type { MessageDriver } from './features/configuration/messaging/driver.ts';
import { apnsDriver } from './features/configuration/messaging/drivers/apns.ts';
import { fcmDriver } from './features/configuration/messaging/drivers/fcm.ts';
import { httpDriver } from './features/configuration/messaging/drivers/http.ts';
import { smtpDriver } from './features/configuration/messaging/drivers/smtp.ts';
import { twilioDriver } from './features/configuration/messaging/drivers/twilio.ts';
import { createGateways } from './features/configuration/messaging/gateways.ts';
import { createLimits } from './features/configuration/messaging/limits.ts';
import { MESSAGE_JOB } from './features/configuration/messaging/message-job.ts';
import { createNotify } from './features/configuration/messaging/notify.ts';
import { createPreview } from './features/configuration/messaging/preview.ts';
import { createPushTokens } from './features/configuration/messaging/push-tokens.ts';
import { messagingRoutes } from './features/configuration/messaging/routes.ts';
import { createSend } from './features/configuration/messaging/send.ts';
import { enabledProviders } from './features/configuration/messaging/store.ts';
import { createTexts } from './features/configuration/messaging/texts.ts';
import type { SettingsService } from './features/configuration/settings/service.ts';
import type { Outbound } from './http/outbound.ts';
import type { Queue } from './jobs/queue.ts';

const TESTS_A_MINUTE = 20;

export interface MessagingDeps {
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  seal: Seal;
  outbound: Outbound;
  settings: SettingsService;
  enqueue: Queue['enqueue'];
  baseUrl: string;
  retryDelaysSeconds: readonly number[] | undefined;
  tried: MessageJobDeps['tried'];
  warn: (words: string) => void;
  now: () => Date;
  newId: () => string;
}

export function createMessaging(deps: MessagingDeps) {
  const { sql, realmSql, transact, seal, outbound, settings, enqueue, tried, retryDelaysSeconds, warn, now, newId } =
    deps;
  const host = new URL(deps.baseUrl).hostname;
  const drivers: MessageDriver[] = [
    smtpDriver({ outbound, host }),
    httpDriver({ outbound }),
    twilioDriver({ outbound }),
    fcmDriver({ outbound, now }),
    apnsDriver({ outbound, now }),
  ];
  const tests = createRateLimit({ limit: TESTS_A_MINUTE, now });
  const gateways = createGateways({ sql, seal, drivers, tests, now, newId });
  const texts = createTexts({ settings });
  const send = createSend({
    seal,
    settings,
    texts,
    limits: createLimits({ seal, now, newId }),
    enqueue: (on, messages) => enqueue(on, MESSAGE_JOB, messages),
    warn,
    now,
    newId,
  });
  const providers = createRealmCache({
    load: async (realm, channel) => (await enabledProviders(sql, realm, channel as Channel)).length > 0,
    now,
  });
  const pushTokens = createPushTokens({ sql, transact, seal, now, newId });
  return {
    /** Whether anybody sends for the channel. */
    sends: (realm: string, channel: Channel): Promise<boolean> => providers.get(realm, channel),
    drop: providers.drop,
    /** Tells people what was changed of their account. */
    notify: createNotify({ send, now }),
    /** For whatever asks for a message, in its own transaction. */
    send,
    pushTokens,
    job: messageJob({ sql, realmSql, transact, seal, gateways, tried, enqueue, now, retryDelaysSeconds }),
    mount(admin: FastifyInstance) {
      messagingRoutes(admin, { sql, preview: createPreview({ sql, texts }), gateways, pushTokens });
    },
    close: gateways.close,
  };
}
export type Messaging = ReturnType<typeof createMessaging>;
