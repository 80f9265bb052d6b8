import { expect, test } from 'vitest';
import { z } from 'zod';
import { Problem } from '../../../server/contract/problem.ts';
import { route } from '../../../server/contract/route.ts';
import { servedTo } from '../../../server/contract/surface.ts';
import { bind } from '../../../server/http/bind.ts';
import { openHttp } from '../../../server/http/fastify.ts';
import { guardProtocol } from '../../../server/http/oauth.ts';
import { sendProblem } from '../../../server/http/problems.ts';
import { mountSurface } from '../../../server/http/surface.ts';
import { createLog } from '../../../server/log.ts';

const base = { method: 'GET', tag: 'test', summary: 'A test', permission: null, response: z.object({}) } as const;
const ofPeople = route({
  ...base,
  path: '/realms/:realm/account/x',
  params: z.object({ realm: z.string() }),
  principal: 'person',
});
const ofAnybody = route({ ...base, path: '/open', principal: 'anonymous', surface: 'admin' });
const ofAdministrators = route({ ...base, path: '/closed' });

const open = () => openHttp({ log: createLog('silent'), trustProxy: false, requests: 't' });
const nobody = {
  failed: sendProblem,
  identify: async () => {
    throw new Problem('unauthenticated');
  },
};

test('a route stands on the surface of its principal, and one for anybody says on which', () => {
  expect(ofPeople.surface).toBe('account');
  expect(ofAdministrators).toMatchObject({ principal: 'administrator', surface: 'admin' });
  expect(() => route({ ...base, path: '/open', principal: 'anonymous' })).toThrow('must say on which surface');
});

test('a route that is mounted on another surface, or on none, is a fault of the start', async () => {
  const app = await open();
  expect(() => bind(app, ofPeople, async () => ({}))).toThrow('of the surface account, and not of none');
  mountSurface(app, { name: 'admin', ...nobody });
  expect(() => bind(app, ofPeople, async () => ({}))).toThrow('of the surface account, and not of admin');
  const misplaced = { ...ofPeople, surface: 'admin' as const };
  expect(() => bind(app, misplaced, async () => ({}))).toThrow('whom the surface admin doesn');
  await app.close();
});

test('whoever is nobody reaches what is for anybody, and nothing that has no contract', async () => {
  const app = await open();
  await app.register(async (admin) => {
    mountSurface(admin, { name: 'admin', ...nobody });
    bind(admin, ofAnybody, async () => ({}));
    bind(admin, ofAdministrators, async () => ({}));
    admin.get('/forgotten', async () => 'secret');
  });
  const statusOf = async (url: string) => (await app.inject(url)).statusCode;
  expect([await statusOf('/open'), await statusOf('/closed'), await statusOf('/forgotten')]).toEqual([200, 401, 404]);
  await app.close();
});

test('a route of OAuth’s says whom it serves, and stands on the surface that it is of', async () => {
  const app = await open();
  const handler = async () => ({});
  await app.register(async (oauth) => {
    guardProtocol(oauth, { surface: 'registration', realmExists: async () => true });
    const at = { method: 'GET', url: '/realms/:realm/x', handler } as const;
    expect(() => oauth.route(at)).toThrow('GET /realms/:realm/x must say whom it serves');
    expect(() => oauth.route({ ...at, config: servedTo('client') })).toThrow('of the surface protocol, and not of reg');
    expect(() => oauth.route({ ...at, config: servedTo('client', 'registration') })).toThrow(
      'for the principal client',
    );
    oauth.route({ ...at, config: servedTo('own-token', 'registration') });
  });
  await app.close();
});
