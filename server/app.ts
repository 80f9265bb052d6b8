// The composition root: every service is built once, in dependency order, and every route is mounted.
// It decides nothing; rules are the features'. Design "Composition root". Specification: all of it.
import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { createSeal } from './crypto/seal.ts';
import { type Changes, listenForChanges } from './db/changes.ts';
import { sqlOver } from './db/sql.ts';
import { createTransact } from './db/transact.ts';
import { createBus } from './events/bus.ts';
import { createOutbox } from './events/outbox.ts';
import { describeRoutes } from './http/openapi.ts';
import { sendProblem } from './http/problems.ts';

export const VERSION = '0.1.0';

/** Everything impure comes from outside: tests give a fixed clock or another outbound guard. */
export interface AppOptions {
  config: Config;
  pool: pg.Pool;
  databaseUrl: string;
  masterKey: readonly Buffer[];
  log: Logger;
  /** Outside production: a write that recorded no event fails. */
  strict: boolean;
  now: () => Date;
  newId: () => string;
}

export interface App {
  http: FastifyInstance;
  /** Seeds what is missing (master, its administrator) and starts what runs beside requests: queue, listener. */
  start(): Promise<{ administrator: { username: string; password: string | undefined } }>;
  /** Readiness off, requests finished, jobs handed back, connections closed. */
  stop(): Promise<void>;
}

export async function buildApp({
  config,
  pool,
  databaseUrl,
  masterKey,
  log,
  strict,
  now,
  newId,
}: AppOptions): Promise<App> {
  const sql = sqlOver(pool);
  const seal = createSeal(masterKey);
  const bus = createBus({ failed: (err) => log.error({ err }, 'a listener failed') });
  const outbox = createOutbox({ now, newId, enqueue: async () => {} });
  const transact = createTransact({ pool, outbox, committed: bus.emit, strict });

  const loggerInstance: FastifyBaseLogger = log;
  const http = Fastify({
    loggerInstance,
    disableRequestLogging: true,
    trustProxy: config.SVC_TRUST_PROXY ?? false,
    bodyLimit: 1024 * 1024,
    routerOptions: { maxParamLength: 2048 },
    return503OnClosing: true,
  });
  http.setValidatorCompiler(validatorCompiler);
  http.setSerializerCompiler(serializerCompiler);
  http.setErrorHandler(sendProblem);
  await http.register(cookie);
  await http.register(formbody);
  await describeRoutes(http, { baseUrl: config.baseUrl, version: VERSION });

  let changes: Changes | undefined;
  return {
    http,
    async start() {
      await http.ready();
      changes = await listenForChanges({ url: databaseUrl, changed: () => {}, log: (m) => log.warn(m) });
      return { administrator: { username: config.SVC_BOOTSTRAP_ADMIN_USERNAME, password: undefined } };
    },
    async stop() {
      await http.close();
      await changes?.stop();
    },
  };
}
