// Binds the routes of contract/statistics.ts. Each count of things needs the permission to read them.
import type { FastifyInstance } from 'fastify';
import { Problem } from '../../../contract/problem.ts';
import {
  type CountedThing,
  countedThings,
  getClientStatistics,
  getCounts,
  getStatistics,
} from '../../../contract/statistics.ts';
import { hasPermission, principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import type { May } from '../admin-access/may.ts';
import type { StatisticsService } from './service.ts';

interface Deps {
  statistics: StatisticsService;
  may: May;
  realmExists(realm: string): Promise<boolean>;
}

export function statisticsRoutes(app: FastifyInstance, { statistics, may, realmExists }: Deps): void {
  async function mustExist(realm: string): Promise<void> {
    if (!(await realmExists(realm))) throw new Problem('not-found', `There is no realm ${realm}`);
  }
  bind(app, getStatistics, async ({ params: { realm }, query }) => {
    await mustExist(realm);
    return statistics.ofRealm(realm, query);
  });
  bind(app, getClientStatistics, async ({ params: { realm }, query }) => {
    await mustExist(realm);
    return statistics.ofClients(realm, query);
  });
  bind(app, getCounts, async ({ params: { realm }, request }) => {
    const principal = principalOf(request);
    const isShown = (thing: CountedThing) => hasPermission(principal, realm, countedThings[thing]);
    const things = (Object.keys(countedThings) as CountedThing[]).filter(isShown);
    // refused and audited as any other request
    if (things.length === 0) await may.require(request, realm, 'users:read');
    await mustExist(realm);
    return statistics.counts(realm, things);
  });
}
