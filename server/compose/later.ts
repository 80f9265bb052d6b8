// The composition root's part for all that a start does without: people and their pages, resources, messages, directories, SCIM, SAML.
// server/app.ts loads it with the first request, job or start that needs any of it. It decides nothing; rules are the features'.
// Implements: a start, and a server that only gives tokens, do without it (performance, "start" and "memory").
import type { RouteOptions } from 'fastify';
import { holdJob } from '../features/operations/holds/job.ts';
import { countRequests } from '../features/operations/monitoring/routes.ts';
import { type HttpOptions, openHttp } from '../http/fastify.ts';
import type { Surface } from '../http/on-demand.ts';
import { createAuthentication } from './authentication.ts';
import { createLaterConfiguration } from './configuration-later.ts';
import { createOperations } from './operations.ts';
import { mountPages } from './pages.ts';
import { createPeople } from './people.ts';
import { createLaterProtocol } from './protocol-later.ts';
import type { Start } from './start.ts';

/** @param listener of the application that passes requests on */
export function createLater(start: Start, listener: Omit<HttpOptions, 'requests' | 'ready'>) {
  const configuration = { ...start, ...createLaterConfiguration(start) };
  const people = { ...configuration, ...createPeople(configuration) };
  const authentication = { ...people, ...createAuthentication(people) };
  const protocol = { ...authentication, ...createLaterProtocol(authentication) };
  const all = { ...protocol, ...createOperations(protocol) };
  const { messaging, authenticatorMetadata, metadataRefresh, federation, scim, removal, holds, signalJobs } = all;
  const jobs = [
    messaging.job,
    metadataRefresh,
    authenticatorMetadata,
    removal.job,
    ...federation.jobs,
    ...scim.jobs,
    holdJob(holds),
    ...signalJobs,
  ];

  return {
    ...all,

    job: (name: string) => jobs.find((job) => job.name === name),

    async surface(): Promise<Surface> {
      const app = await openHttp({ ...listener, requests: 'later' });
      const routes: RouteOptions[] = [];
      app.addHook('onRoute', (route) => void routes.push(route));
      countRequests(app, all.metrics.request);
      await app.register(async (pages) => mountPages(pages, all));
      await all.mountApis(app);
      await all.mountLaterProtocol(app);
      await app.ready();
      return { app, routes };
    },

    close: messaging.close,
  };
}
export type Later = ReturnType<typeof createLater>;
