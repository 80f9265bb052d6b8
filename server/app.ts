// The composition root: it builds what a start needs at once, loads the rest (compose/later.ts,
// compose/administration.ts) when a request first needs it, and mounts every surface. It decides nothing; the features
// have the rules. A feature is added to its group's part (compose/). Design "Composition root". Specification: all of
// it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { AppOptions } from './compose/infrastructure.ts';
import { createJobs } from './compose/jobs.ts';
import type { Later } from './compose/later.ts';
import { VERSION } from './compose/observation.ts';
import { createStart } from './compose/start.ts';
import { bootstrapOptions, mutualTlsOf } from './config.ts';
import { MASTER } from './contract/realms.ts';
import { type Changes, listenForChanges } from './db/changes.ts';
import type { Recovery } from './features/operations/bootstrap/recovery.ts';
import type { Bootstrapped } from './features/operations/bootstrap/service.ts';
import { createSettled } from './features/operations/bootstrap/settled.ts';
import { actuatorRoutes, countRequests } from './features/operations/monitoring/routes.ts';
import { createBodyTime } from './http/body-time.ts';
import { trackConnections } from './http/connections.ts';
import { type HttpOptions, openHttp } from './http/fastify.ts';
import type { MutualTls } from './http/mutual-tls.ts';
import { onDemand } from './http/on-demand.ts';
import { type ApiDocumentation, describeRoutes } from './http/openapi.ts';
import { adminAudience } from './http/own-addresses.ts';
import { answerReady } from './http/ready.ts';
import { type Once, once } from './schedule/once.ts';

export type { AppOptions } from './compose/infrastructure.ts';
export { VERSION } from './compose/observation.ts';

export interface App {
  http: FastifyInstance;
  /** The metrics of the process. */
  registry: Registry;
  /** Loads the application with the pages and interfaces that a start doesn't need. */
  later(): Promise<FastifyInstance>;
  api: ApiDocumentation;
  /** Seeds missing objects (master, its administrator) and begins to listen for changes; then the server can serve. */
  start(): Promise<Pick<Bootstrapped, 'administrator' | 'first'>>;
  /** Opens the HTTPS listener for clients with certificates, if one is configured. @returns its port */
  listenForCertificates(): Promise<number | undefined>;
  /** Gives master an administrator again, without a start. */
  recoverAdministrator: Recovery;
  /** Starts the job queue, for which no request waits. */
  work(): Promise<void>;
  /** Turns readiness off, finishes requests, hands back jobs, closes connections. */
  stop(): Promise<void>;
}

export async function buildApp(options: AppOptions): Promise<App> {
  const rest = () => later.get();
  const start = createStart(options, rest);
  const { config, sql, queue, metrics, monitoring, audit, keys, passwords, log, baseUrl } = start;
  const listener: Omit<HttpOptions, 'requests' | 'ready'> = {
    log,
    trustProxy: config.SVC_TRUST_PROXY ?? false,
    otherAddresses: config.SVC_OTHER_ADDRESSES,
    bodyTime: createBodyTime(options.bodyMs),
  };
  const mutualTls = mutualTlsOf(config);
  if (mutualTls) {
    const { createClientCertificateSource } = await import('./http/client-certificate-source.ts');
    listener.clientCertificates = createClientCertificateSource(mutualTls);
  }
  const later: Once<Later> = once(async () => {
    const { createLater } = await import('./compose/later.ts');
    return createLater(start, listener);
  });
  queue.takes(createJobs(start, rest));

  const http = await openHttp({ ...listener, requests: 'req', ready: answerReady(start.ready, metrics.request) });
  const admin = onDemand(http, ['/admin'], async () => {
    const [{ createAdministration }, all] = await Promise.all([import('./compose/administration.ts'), rest()]);
    return createAdministration(all, listener);
  });
  const wellKnown = ['authzen-configuration', 'ssf-configuration', 'webauthn'].map((name) => `/.well-known/${name}`);
  const laterPrefixes = ['/realms', '/assets', ...wellKnown];
  const laterSurface = onDemand(http, laterPrefixes, async () => (await rest()).surface());
  countRequests(http, metrics.request);
  const api = describeRoutes(http, {
    baseUrl,
    version: VERSION,
    more: async () => [...(await laterSurface.surface()).routes, ...(await admin.surface()).routes],
  });
  // the address without a path, which users type first
  http.get('/', { schema: { hide: true } }, async (_, reply) => reply.redirect('/admin/login'));
  await http.register(async (anonymous) => {
    actuatorRoutes(anonymous, { monitoring, metricsType: metrics.contentType });
  });
  await start.mountProtocol(http);
  const connections = trackConnections(http.server);
  let tls: MutualTls | undefined;
  const settle = createSettled({ sql, passwords, adminAudience: adminAudience(baseUrl) });

  let changes: Promise<Changes> | undefined;
  return {
    http,
    registry: metrics.registry,
    later: async () => (await laterSurface.surface()).app,
    api,
    async start() {
      changes = listenForChanges({
        url: options.databaseUrl,
        sql,
        changed: start.changed,
        ended: start.ended,
        log: (message, err) => log.warn({ err }, message),
      });
      // Behind a pooler that gives sessions away anything may fail first; only the listener knows why.
      const failed = async (error: unknown) => {
        await changes;
        throw error;
      };
      await Promise.all([changes, start.readKeys(), http.ready()]).catch(failed);
      keys.drop(MASTER);
      await audit.prepare();
      const wanted = bootstrapOptions(config);
      const { username } = wanted.administrator;
      if (await settle(wanted)) return { administrator: { username, password: undefined }, first: false };
      const { warnings, ...started } = await (await rest()).bootstrap.run(wanted);
      for (const warning of warnings) log.warn(warning);
      return started;
    },
    async listenForCertificates() {
      if (!mutualTls?.listener) return undefined;
      const { createMutualTls } = await import('./http/mutual-tls.ts');
      tls = await createMutualTls(mutualTls.listener, { answers: http.server, log });
      return tls.listen();
    },
    recoverAdministrator: async (...wanted) => (await rest()).recoverAdministrator(...wanted),
    async work() {
      audit.start();
      start.clientActivity.start();
      start.counting.start();
      await queue.start();
    },
    async stop() {
      monitoring.drain();
      connections.drain();
      tls?.drain();
      // Load balancers learn of the shutdown by the readiness probe; until then requests are still served.
      if (config.SVC_DRAIN_SECONDS > 0) await sleep(config.SVC_DRAIN_SECONDS * 1000);
      await Promise.all([tls?.close(), connections.during(() => http.close())]);
      await Promise.all([admin.close(), laterSurface.close()]);
      await start.stopProtocol();
      await Promise.all([queue.stop(), audit.stop()]);
      // after all else that counts
      await Promise.all([start.clientActivity.stop(), start.counting.stop()]);
      (await later.settled())?.close();
      await start.outbound.close();
      await (await changes?.catch(() => undefined))?.stop();
      await passwords.stop();
    },
  };
}
