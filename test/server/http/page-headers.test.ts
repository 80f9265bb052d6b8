// Owns: that whatever a realm's addresses answer to a browser as a page, to whomever, is in nobody's frame, is kept nowhere and tells other
// sites no address. The addresses are the server's own routes.
// Does not own: what pages say, those that only a step of a way shows (test/browser/pages.test.ts walks them).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { createPerson, type Person } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { USER_REGISTRATION_ENABLED: 'true' } });
  await makePeopledRealm(server, 'acme');
});
afterAll(() => server?.stop());

interface At {
  method: string;
  path: string;
}
/** Of the tree that Fastify prints: four characters for each level, a part of the path, its methods. */
function routesOf(tree: string): At[] {
  const parts: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', part = '', methods] = /^((?:[│ ] {3})*)(?:[├└]── )([^\s]*)(?: \(([^)]*)\))?/.exec(line) ?? [];
    if (line.trim() === '') return [];
    const depth = indent.length / 4;
    parts.splice(depth, parts.length, part);
    const path = parts.join('');
    return (methods ?? '').split(', ').flatMap((method) => (method === '' ? [] : [{ method, path }]));
  });
}
const routes = async () => {
  const applications = [server.app.http, await server.app.later()];
  const all = applications.flatMap((app) => routesOf(app.printRoutes({ commonPrefix: false })));
  return all.filter(({ method, path }) => path.startsWith('/realms/:realm') && /^(?:GET|POST)$/.test(method));
};
const at = (path: string, realm: string) => path.replace(':realm', realm).replaceAll(/:\w+|\*/g, 'x');

const wanted = {
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  framed: "frame-ancestors 'none'",
  fallback: "default-src 'none'",
};
function headersOf({ headers }: Response): typeof wanted {
  const policy = (headers.get('content-security-policy') ?? '').split('; ');
  const named = (name: string) => policy.find((directive) => directive.startsWith(`${name} `)) ?? '';
  const of = (name: string) => headers.get(name) ?? '';
  return {
    'x-frame-options': of('x-frame-options'),
    'cache-control': of('cache-control'),
    'referrer-policy': of('referrer-policy'),
    'x-content-type-options': of('x-content-type-options'),
    framed: named('frame-ancestors'),
    fallback: named('default-src'),
  };
}

/** Asks each route as a browser does. @returns those that answered with a page */
async function pagesFor(who: Person, realm: string): Promise<Set<string>> {
  const pages = new Set<string>();
  const faults: object[] = [];
  for (const { method, path } of await routes()) {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const headers = { accept: 'text/html,*/*;q=0.8', ...(method === 'POST' && form) };
    const answer = await who.once(at(path, realm), { method, headers, ...(method === 'POST' && { body: 'x=1' }) });
    await answer.body?.cancel();
    if (!answer.headers.get('content-type')?.startsWith('text/html')) continue;
    pages.add(`${method} ${path.slice('/realms/:realm'.length)}`);
    const found = headersOf(answer);
    if (JSON.stringify(found) !== JSON.stringify(wanted)) faults.push({ method, path, status: answer.status, found });
  }
  expect(faults).toEqual([]);
  return pages;
}

const met = [
  'GET /login',
  'POST /login',
  'GET /login/forgot',
  'POST /register',
  'GET /device/enroll',
  'GET /push/:id',
  'GET /qr/:id',
  'GET /oauth2/authorize',
  'POST /oauth2/consent',
  'GET /oauth2/logout',
];

test('a stranger’s pages, and those of whatever is wrong with a request', async () => {
  const who = createPerson(server.baseUrl);
  await who.open('/realms/acme/login');
  const pages = await pagesFor(who, 'acme');
  expect([...pages]).toEqual(expect.arrayContaining(met));
});

test('the pages of somebody who is signed in, and of forms that are not theirs', async () => {
  const who = createPerson(server.baseUrl);
  const account = await who.fill(await who.open('/realms/acme/login?for=account'), {
    username: 'alice',
    password: PASSWORD,
  });
  expect(account.url).toContain('/account');
  const pages = await pagesFor(who, 'acme');
  expect([...pages]).toEqual(expect.arrayContaining(['GET /account', 'POST /account/sign-out', 'POST /account/erase']));
});

test('the pages of a realm that there is not', async () => {
  const pages = await pagesFor(createPerson(server.baseUrl), 'nowhere');
  expect([...pages]).toEqual(expect.arrayContaining(['GET /login', 'GET /register', 'GET /account']));
});
