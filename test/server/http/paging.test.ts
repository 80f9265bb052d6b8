// Owns: the paging of the lists that are usually short: flows, keys, managers, admin roles.
// Does not own: the paging of users, clients, events, … (their own tests).
// Implements: decisions "Reading and writing": at most `limit` rows and a Link to the next page, by a cursor.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { listAdminRoles } from '../../../server/contract/admin-roles.ts';
import type { Answer } from '../../../server/contract/client.ts';
import { createFlow, listFlows } from '../../../server/contract/flows.ts';
import { listKeys, rotateKeys } from '../../../server/contract/keys.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { importRealm, listManagers, releaseManager } from '../../../server/contract/transfer.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { importer } from '../../support/transfer.ts';

let server: TestServer;
const params = { realm: 'paged' };
beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(createRealm, { body: params });
  for (const alias of ['alpha', 'zulu']) {
    await server.admin.call(createFlow, { params, body: { alias } });
    await server.admin.call(rotateKeys, { params });
    const body = { roles: [{ name: alias }] };
    await server.admin.call(importRealm, { params, query: { manager: `by-${alias}` }, body });
  }
});
afterAll(() => server?.stop());

interface Asked {
  limit?: number;
  cursor?: string;
}
const lists: Record<string, (query: Asked) => Promise<Answer<unknown[]>>> = {
  flows: (query) => server.admin.call(listFlows, { params, query }),
  keys: (query) => server.admin.call(listKeys, { params, query }),
  managers: (query) => server.admin.call(listManagers, { params, query }),
  'admin roles': (query) => server.admin.call(listAdminRoles, { params, query }),
};

test.each(Object.entries(lists))('%s come page by page, in the same order, each once', async (_, list) => {
  const { body: whole = [] } = await list({});
  const pages: unknown[] = [];
  let cursor: string | undefined;
  do {
    const answer = await list({ limit: 1, ...(cursor && { cursor }) });
    expect(answer.body).toHaveLength(1);
    pages.push(...(answer.body ?? []));
    cursor = answer.nextCursor;
  } while (cursor !== undefined);
  expect(whole.length).toBeGreaterThan(1);
  expect(pages).toEqual(whole);
  await expect(list({ cursor: 'made-up' })).rejects.toMatchObject({ status: 400 });
});

test('a manager that owns much comes on several pages, each of its objects once', async () => {
  const roles = Array.from({ length: 2_300 }, (_, n) => ({ name: `much-${n}` }));
  await server.admin.call(importRealm, { params, query: { manager: 'by-much' }, body: { roles } });
  for (const limit of [1, 2, 100]) {
    const owned = new Map<string, string[]>();
    const order: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const answer = await server.admin.call(listManagers, { params, query: { limit, ...(cursor && { cursor }) } });
      const rows = answer.body ?? [];
      expect(rows.length).toBeLessThanOrEqual(limit);
      expect(rows.flatMap(({ owns }) => owns).length).toBeLessThanOrEqual(1_000);
      for (const { manager, owns } of rows) {
        order.push(manager);
        owned.set(manager, [...(owned.get(manager) ?? []), ...owns.map(({ key }) => key)]);
      }
      cursor = answer.nextCursor;
      if (cursor === undefined) break;
    }
    expect([...owned].map(([manager, keys]) => [manager, keys.length, new Set(keys).size])).toEqual([
      ['by-alpha', 1, 1],
      ['by-much', 2_300, 2_300],
      ['by-zulu', 1, 1],
    ]);
    expect(order.filter((manager) => manager === 'by-much').length).toBeGreaterThanOrEqual(3);
  }
});

test('a list that is shown whole says how many it has; a page of a longer one does not count the others', async () => {
  const { fetch } = await importer(server);
  const totals = async (path: string) => (await fetch(path)).headers.get('x-total-count');
  await server.admin.call(releaseManager, { params: { ...params, manager: 'by-much' } });
  for (const list of ['flows', 'keys', 'managers', 'admin-roles', 'webhooks', 'clients', 'users']) {
    const path = `/admin/realms/paged/${list}`;
    const rows = z.array(z.unknown()).parse(await (await fetch(path)).json());
    expect([list, await totals(path)]).toEqual([list, String(rows.length)]);
    if (rows.length > 1) expect(await totals(`${path}?limit=1`)).toBeNull();
  }
  expect(Number(await totals('/admin/realms?limit=1'))).toBeGreaterThan(1);
});
