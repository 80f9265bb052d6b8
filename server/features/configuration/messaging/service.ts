// Composes messaging: drivers, texts, limits, the job, and the functions by which other features send. Specification
// 4.4.
import type { FastifyInstance } from 'fastify';
import type { Channel } from '../../../contract/message-drivers.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { createRealmCache } from '../../../db/cache.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { createRateLimit } from '../../../domain/rate-limit.ts';
import type { Outbound } from '../../../http/outbound.ts';
import type { Queue } from '../../../jobs/queue.ts';
import type { SettingsService } from '../settings/service.ts';
import { createAgain } from './again.ts';
import { type MessageJobDeps, messageJob } from './delivery.ts';
import type { MessageDriver } from './driver.ts';
import { apnsDriver } from './drivers/apns.ts';
import { fcmDriver } from './drivers/fcm.ts';
import { httpDriver } from './drivers/http.ts';
import { smtpDriver } from './drivers/smtp.ts';
import { twilioDriver } from './drivers/twilio.ts';
import { createGateways } from './gateways.ts';
import { createLimits } from './limits.ts';
import { MESSAGE_JOB } from './message-job.ts';
import { createNotify } from './notify.ts';
import { createPreview } from './preview.ts';
import { createPushTokens } from './push-tokens.ts';
import { messagingRoutes } from './routes.ts';
import { createSend } from './send.ts';
import { enabledProviders } from './store.ts';
import { createTemplateTest } from './template-test.ts';
import { createTexts } from './texts.ts';

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
  retryDelaysSeconds?: readonly number[] | undefined;
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
  const gateways = createGateways({ sql, transact, seal, drivers, tests, now, newId });
  const texts = createTexts({ settings });
  const enqueueMessages = (on: Sql, messages: readonly object[]) => enqueue(on, MESSAGE_JOB, messages);
  const send = createSend({
    seal,
    settings,
    texts,
    limits: createLimits({ seal, now, newId }),
    enqueue: enqueueMessages,
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
    /** Whether the realm has a provider for the channel. */
    sends: (realm: string, channel: Channel): Promise<boolean> => providers.get(realm, channel),
    drop: providers.drop,
    /** Notifies a user of a change to their account. */
    notify: createNotify({ send, now }),
    /** Enqueues a message in the caller's transaction. */
    send,
    pushTokens,
    job: messageJob({ sql, realmSql, transact, seal, gateways, tried, enqueue, now, retryDelaysSeconds }),
    mount(admin: FastifyInstance) {
      const again = createAgain({ sql, transact, now, enqueue: enqueueMessages });
      const preview = createPreview({ sql, texts });
      const testTemplate = createTemplateTest({ ...deps, texts, gateways });
      messagingRoutes(admin, { sql, preview, gateways, pushTokens, again, testTemplate, now });
    },
    close: gateways.close,
  };
}
export type Messaging = ReturnType<typeof createMessaging>;
