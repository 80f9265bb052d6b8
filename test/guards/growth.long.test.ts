// Owns: what every statement costs where there is much: none reads a table that grows from end to end, nor more than its page takes.
// Does not own: what requests answer, how fast (`npm run bench`).
// Implements: no request, and no work in the background, grows with what the realm or its neighbours have.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import { address } from '../../server/contract/client.ts';
import type { Route } from '../../server/contract/route.ts';
import { createSeal } from '../../server/crypto/seal.ts';
import { sqlOver } from '../../server/db/sql.ts';
import { createTransact } from '../../server/db/transact.ts';
import { sealEvents } from '../../server/events/chain.ts';
import { begin, eventsAfter, hasWaitingEvents, progress } from '../../server/features/operations/forwarding/store.ts';
import { sweep, sweepEvents } from '../../server/jobs/janitor.ts';
import { CALLBACK, getCode, PASSWORD, redeem, refresh } from '../support/applications.ts';
import { basic, makeClient, post, SECRET } from '../support/clients.ts';
import { connectedCluster } from '../support/cluster.ts';
import { contractRoutes } from '../support/contract-routes.ts';
import { grow, personId } from '../support/grown.ts';
import { adminSessionOf, type Ids, oneOfEach } from '../support/one-of-each.ts';
import { createPerson } from '../support/person.ts';
import { type Explained, explainAll, hearPlans, nodesOf, pagesRead, readBy, rowsRead } from '../support/plans.ts';
import { scimToken, scimWith } from '../support/scim.ts';
import { MASTER_KEY, startTestServer, type TestServer } from '../support/server.ts';
import type { AdminSession } from '../support/signed-in.ts';

const REALM = 'grown';
const SIZE = { people: 80_000, clients: 6_000, events: 200_000 };
/** A table with more rows grows; one of every kind of thing that an administrator makes doesn't. */
const GROWN = 5_000;
/** Rows that one statement may read, and pages that it may touch: those of a page of a hundred, and what belongs to each. */
const MOST = { rows: 2_500, pages: 6_000 };
/** The search asks for six kinds in one statement. */
const MOST_OF_SEARCH = 2 * MOST.rows;

/** Requests whose statements may read more, or the statements, or the statements of a request, and why. */
const exempt: { asked?: RegExp; text?: RegExp; because: string }[] = [
  {
    asked: /\/sessions\?ipAddress=/,
    because: 'this filter has no index: it would cost every sign-in',
  },
  { asked: /\/export/, because: 'all is asked for' },
  {
    asked: /\/sessions\/service-accounts/,
    because: 'the last 10,000 events of a type are looked through, and no more',
  },
  {
    asked: /\/admin\/diagnostics/,
    because: 'the newest 20,000 messages and deliveries are looked through, and no more',
  },
  { asked: /\/events\/verify/, because: 'an administrator has the whole log read' },
  {
    text: /^select count\(\*\)::int as n from realm_user u/,
    because: 'SCIM has every list say how many there are (RFC 7644 §3.4.2)',
  },
  {
    text: /^select count\(\*\)::int as n from user_group g/,
    because: 'the same of groups',
  },
  {
    asked: /\/(clients|roles|groups|organizations)\?q=(x|xq)&/,
    because: 'no index has a text of one or two letters: the realm’s own objects of the kind are read',
  },
  {
    asked: /\/clients\?q=grown-5&/,
    because: 'hundreds match, so the planner reads the realm’s clients in the order of the list',
  },
  {
    asked: /^(users\/import|making applications|jobs)$/,
    text: /jsonb_to_recordset|import_user_/,
    because:
      'the realm’s own roles, groups or clients are joined by hashing, with rows whose number the planner does not know',
  },
  {
    text: /from group_member where realm_id = \$1 and group_id = any/,
    because: 'members are of the group that was asked for; there is a limit',
  },
  {
    text: /count\(\*\)::int as people from credential/,
    because: 'asked once an hour at most, where hashes came from elsewhere',
  },
  { text: /^with looked_at as materialized/, because: 'events are deleted by age 20,000 at a time' },
  {
    text: /^insert into scim_link .* from realm_user where realm_id = \$4 for key share/,
    because: 'a target that is new, or was not compared for a day, is compared whole',
  },
  { text: /^explain \(format json\) select from/, because: 'the planner’s estimate reads no row' },
  { text: /pg_options_to_table/, because: 'the queue looks after its tables, by the catalogue' },
  { text: /fetch first \$1 rows with ties/, because: 'a pass of sealing takes 5,000 events' },
];

let server: TestServer;
let watched: TestServer;
let ids: Ids;
let as: AdminSession;
const grown = new Set<string>();
/** The worst of each text, by what had asked for it. */
const heard = new Map<string, Explained & { asked: string }>();
let asking = '';
let plans: { stop(): void } | undefined;

const worse = (a: Explained, b: Explained): boolean =>
  rowsRead(a.plan) + pagesRead(a.plan) > rowsRead(b.plan) + pagesRead(b.plan);

beforeAll(async () => {
  server = await startTestServer({ jobs: false });
  ids = await oneOfEach(server, REALM);
  await grow(server.databaseUrl, { realm: REALM, ...SIZE, at: new Date() });
  await connectedCluster(server.databaseUrl, async (client) => {
    const { rows } = await client.query<{ relname: string }>(
      `select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and reltuples > $1`,
      [GROWN],
    );
    for (const { relname } of rows) grown.add(relname);
  });
  await explainAll(server.databaseUrl);
  plans = hearPlans((one) => {
    const key = `${asking} ${one.text}`;
    const before = heard.get(key);
    if (!before || worse(one, before)) heard.set(key, { ...one, asked: asking });
  });
  asking = 'start';
  watched = await startTestServer({ beside: server, jobs: false });
  as = await adminSessionOf(watched, { username: 'admin' });
}, 1_800_000);
afterAll(async () => {
  plans?.stop();
  await watched?.stop();
  await server?.stop();
});

async function get(url: string, headers: Record<string, string> = { ...as }): Promise<void> {
  asking = `GET ${url}`;
  const { statusCode, body } = await watched.app.http.inject({ method: 'GET', url, headers });
  expect(statusCode, `${url}: ${body.slice(0, 300)}`).toBeLessThan(500);
  expect(statusCode, `${url}: ${body.slice(0, 300)}`).not.toBe(400);
}

/** Of each parameter that a list takes, values that few, many and none have. */
const SAMPLES: Record<string, readonly string[]> = {
  limit: ['1', '100'],
  q: ['user-77', 'grown-5', 'nobody-at-all', 'xq', 'x'],
  enabled: ['true', 'false'],
  email: ['user-77@people.example'],
  role: ['grown'],
  group: ['/grown'],
  organization: ['grown'],
  type: ['LOGIN_FAILURE', 'LOGIN_SUCCESS,LOGOUT', 'ADMIN_WRITE'],
  clientId: ['grown-7', 'app'],
  userId: [personId(8), personId(3)],
  username: ['user-8'],
  actor: ['user-8', personId(8), 'busy', 'nobody-at-all'],
  subject: ['user-8', personId(8), 'busy', 'nobody-at-all'],
  ipAddress: ['192.0.2.1', '203.0.113.9'],
  outcome: ['failure'],
  from: [String(Date.now() - 86_400_000)],
  to: [String(Date.now() - 50 * 86_400_000)],
  days: ['30'],
  manager: ['theirs'],
  status: ['sent', 'dead', 'retrying', 'succeeded'],
  state: ['failed'],
  effective: ['true'],
  defaults: ['true'],
  after: ['0'],
  step: ['hour', 'day'],
  with: ['managedBy', 'locked'],
  locale: ['de'],
  locked: ['true', 'false'],
  kinds: ['user', 'client,role,group,organization,realm'],
  realm: [REALM],
  attempts: ['10'],
  flow: ['browser'],
  level: ['2'],
  deviceKnown: ['false'],
  riskBand: ['high'],
  proven: ['pwd'],
  scope: ['openid profile'],
  resource: ['https://api.example'],
};
/** Parameters that say where a page goes on; those of SCIM are asked below. */
const ELSEWHERE = new Set(['cursor', 'code', 'users']);

/** Things that have grown, in the place of those that have one of each. */
const GROWN_IDS: Ids = {
  users: { userId: personId(8) },
  groups: { id: personId(1) },
  roles: { id: personId(1) },
  organizations: { id: personId(1) },
  'former-realms': { name: 'nobody' },
  clients: { id: personId(9), clientId: personId(9) },
};

function addresses(route: Route): string[] {
  const words = route.path.split('/').filter((word) => /^[a-z]/.test(word));
  const area = words[2] ?? words[1] ?? '';
  const named = [ids[area], GROWN_IDS[area] && { ...ids[area], ...GROWN_IDS[area] }].filter((one) => one !== undefined);
  if (named.length === 0) named.push({});
  const { shape = {} }: { shape?: Record<string, z.ZodType> } = Object(route.query);
  const keys = Object.keys(shape).filter((key) => !ELSEWHERE.has(key));
  for (const key of keys) expect(Object.keys(SAMPLES), `a value of ${key} of ${route.path}`).toContain(key);
  const valuesOf = (key: string) => (SAMPLES[key] ?? []).filter((value) => shape[key]?.safeParse(value).success);
  const needed = keys.filter((key) => !shape[key]?.safeParse(undefined).success);
  const always = Object.fromEntries(needed.map((key) => [key, valuesOf(key)[0] ?? '']));
  const query = (more: Record<string, string>) => {
    const text = String(new URLSearchParams({ ...always, ...more }));
    return text === '' ? '' : `?${text}`;
  };
  const queries = [
    query({}),
    ...keys.flatMap((key) =>
      valuesOf(key).map((value) =>
        query({ [key]: value, ...('limit' in shape && key !== 'limit' && { limit: '20' }) }),
      ),
    ),
  ];
  return named.flatMap((own) => queries.map((query) => `${address(route.path, { ...own, realm: REALM })}${query}`));
}

test('every list and thing of the admin API', async () => {
  const routes = (await contractRoutes()).filter(({ method, path }) => method === 'GET' && path.startsWith('/admin/'));
  for (const route of routes) for (const url of addresses(route)) for (let i = 0; i < 2; i += 1) await get(url);
}, 600_000);

/** Two filters of the log, of which one has few events or none and the other many. */
const TOGETHER = [
  { actor: 'user-8', subject: 'user-8' },
  { actor: 'busy', subject: 'nobody' },
  { actor: 'busy', outcome: 'denied' },
  { subject: 'busy', clientId: 'grown-7' },
  { subject: 'busy', type: 'ADMIN_WRITE', outcome: 'failure' },
  { actor: 'nobody', subject: 'busy' },
  { userId: personId(2), clientId: 'nobody' },
  { clientId: 'busy', ipAddress: '203.0.113.9' },
  { clientId: 'nobody', outcome: 'success' },
  { clientId: 'nobody', type: 'TOKEN_ISSUED' },
  { ipAddress: '203.0.113.9', type: 'LOGIN_SUCCESS' },
  { actor: 'busy', from: String(Date.now() - 86_400_000), to: String(Date.now()) },
];

test('two filters of the audit log together', async () => {
  // From the sixth time on PostgreSQL may have one plan of a prepared statement for all values.
  for (const query of TOGETHER)
    for (let i = 0; i < 7; i += 1)
      await get(`/admin/realms/${REALM}/events?${new URLSearchParams({ limit: '20', ...query })}`);
}, 600_000);

test('a replay of sign-ins against an edited flow reads the users of many at once', async () => {
  const url = `/admin/realms/${REALM}/flows/browser/replay`;
  const tree = [
    { authenticatorId: 'username-password', requirement: 'REQUIRED' },
    {
      requirement: 'CONDITIONAL',
      executions: [
        { authenticatorId: 'role', requirement: 'REQUIRED', config: { roles: ['grown'] } },
        { authenticatorId: 'otp', requirement: 'REQUIRED' },
      ],
    },
  ];
  const bodies = [{}, { executions: tree }, { executions: tree, signIns: 'all', from: Date.now() - 30 * 86_400_000 }];
  for (const body of bodies) {
    asking = `POST ${url} ${JSON.stringify(body)}`;
    const { statusCode, body: answer } = await watched.app.http.inject({
      method: 'POST',
      url,
      headers: { ...as, 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    });
    expect(statusCode, answer.slice(0, 300)).toBe(200);
  }
}, 600_000);

test('what people and applications do, from signing in to signing out', async () => {
  asking = 'making people';
  const api = watched.admin;
  const realm = REALM;
  const { createUser, deleteUser } = await import('../../server/contract/users.ts');
  const { body: user } = await api.call(createUser, {
    params: { realm },
    body: { username: 'zoe', email: 'zoe@people.example', password: PASSWORD, groups: ['/grown'], roles: ['grown'] },
  });
  expect(user).toBeDefined();
  asking = 'making applications';
  await makeClient(watched, realm, { clientId: 'spa', tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK] });
  await makeClient(watched, realm, {
    clientId: 'api',
    secret: SECRET,
    grantTypes: ['client_credentials', 'urn:ietf:params:oauth:grant-type:device_code'],
    redirectUris: [CALLBACK],
  });
  asking = 'a sign-in that fails';
  const person = createPerson(watched.baseUrl);
  const page = await person.open(`/realms/${realm}/login?for=account`);
  for (const username of ['zoe', 'zoe@people.example', 'nobody-at-all'])
    await person.fill(page, { username, password: 'not the one' });
  for (let round = 0; round < 6; round += 1) {
    asking = 'a sign-in';
    const signedIn = createPerson(watched.baseUrl);
    const grant = await getCode(watched, realm, 'spa', {
      username: round % 2 ? 'zoe' : 'zoe@people.example',
      person: signedIn,
    });
    asking = 'a code for tokens';
    const { body: tokens } = await redeem(watched, realm, 'spa', grant);
    expect(tokens.access_token).toBeTruthy();
    asking = 'a refresh';
    const { body: refreshed } = await refresh(watched, realm, 'spa', tokens.refresh_token);
    asking = 'userinfo';
    await fetch(`${watched.baseUrl}/realms/${realm}/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${refreshed.access_token}` },
    });
    asking = 'client credentials';
    const own = await post(
      watched,
      realm,
      'token',
      { grant_type: 'client_credentials' },
      { authorization: basic('api') },
    );
    expect(own.status, own.text).toBe(200);
    asking = 'introspection';
    for (const token of [refreshed.access_token, refreshed.refresh_token, own.body.access_token])
      await post(watched, realm, 'introspect', { token: String(token) }, { authorization: basic('api') });
    asking = 'the account';
    for (const path of [
      '',
      '/sessions',
      '/activity',
      '/activity?limit=1',
      '/credentials',
      '/profile',
      '/applications',
      '/browsers',
      '/identities',
      '/gdpr/consents',
      '/gdpr/export',
      '/offline-sessions',
      '/resources',
      '/shares',
      '/agents',
      '/phone',
    ])
      await signedIn.open(`/realms/${realm}/account${path}`);
    asking = 'a revocation';
    await post(watched, realm, 'revoke', { token: String(refreshed.refresh_token), client_id: 'spa' });
    asking = 'a sign-out';
    const out = await signedIn.open(`/realms/${realm}/oauth2/logout?client_id=spa`);
    await signedIn.fill(out, {});
  }
  asking = 'deleting a person';
  await api.call(deleteUser, { params: { realm, userId: user?.id ?? '' } });
}, 600_000);

test('provisioning by SCIM', async () => {
  const scim = scimWith(watched, REALM, await scimToken(watched, REALM));
  const filters = [
    'userName eq "user-77"',
    'emails.value eq "user-77@people.example"',
    'externalId eq "x"',
    `id eq "${personId(8)}"`,
    'userName eq "nobody-at-all"',
    'manager eq "nobody-at-all"',
    `manager eq "${personId(8)}"`,
    'meta.lastModified gt "2100-01-01T00:00:00Z"',
  ];
  const paths = [
    '/Users?count=1',
    '/Users?count=20&sortBy=userName',
    ...filters.map((filter) => `/Users?count=1&filter=${encodeURIComponent(filter)}`),
    '/Groups?count=1',
    '/Groups?count=1&excludedAttributes=members',
    `/Groups?filter=${encodeURIComponent('displayName eq "grown"')}&excludedAttributes=members`,
    `/Users/${personId(8)}`,
    `/Groups/${personId(1)}?excludedAttributes=members`,
  ];
  for (const path of paths) {
    asking = `SCIM ${path}`;
    const { status, body } = await scim('GET', path);
    expect(status, JSON.stringify(body)).toBe(200);
  }
  asking = 'SCIM: a person, and in a group';
  const { body } = await scim('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: 'yan',
    emails: [{ value: 'yan@people.example' }],
  });
  const patch = (op: string) => ({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op, path: 'members', value: [{ value: body.id }] }],
  });
  for (const op of ['add', 'remove']) await scim('PATCH', `/Groups/${personId(1)}`, patch(op));
  await scim('DELETE', `/Users/${body.id}`);
}, 600_000);

test('an import of a few people', async () => {
  const people = [{ username: 'xia', email: 'xia@people.example', groups: ['/grown'] }];
  for (const [path, body] of [
    ['users/import', people],
    ['import?dryRun=true', { users: people }],
    ['import', { users: people }],
  ] as const) {
    asking = path;
    const answer = await watched.app.http.inject({
      method: 'POST',
      url: `/admin/realms/${REALM}/${path}`,
      headers: { ...as, 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    });
    expect(answer.statusCode, answer.body.slice(0, 300)).toBe(200);
  }
}, 600_000);

test('what is done in the background', async () => {
  const sql = sqlOver(watched.pool);
  const seal = createSeal([MASTER_KEY]);
  const now = () => new Date();
  const outbox = {
    subscribed: async () => new Set<string>(),
    drop: () => {},
    nobodyIn: () => {
      throw new Error('no event');
    },
    write: async () => {},
    log: () => [],
    rows: () => ({ target: '', text: '' }),
  };
  const transact = createTransact({ pool: watched.pool, outbox, committed: () => {}, strict: true });
  asking = 'sealing';
  await sealEvents({ sql, transact, seal, now });
  await server.pool.query(`update event_log set position = (select max(position) from event)`);
  for (let i = 0; i < 7; i += 1) await sealEvents({ sql, transact, seal, now });
  asking = 'forwarding';
  await begin(sql);
  for (let i = 0; i < 7; i += 1) await hasWaitingEvents(sql);
  await progress(sql, 1_000);
  await eventsAfter(sql, { position: -500_000_000, id: personId(1) }, 500);
  asking = 'the janitor';
  await sweep(sql, now());
  await sweepEvents({ transact, seal }, now(), { eventRetentionDays: 99 });
  asking = 'metrics';
  await get('/actuator/metrics-text', {});
  await get('/actuator/health/readiness', {});
  asking = 'jobs';
  await watched.app.work();
  await sleep(15_000);
}, 600_000);

test('no statement reads a table that grows from end to end, nor more than its page takes', () => {
  expect(heard.size).toBeGreaterThan(300);
  const faults = [...heard.values()].flatMap(({ text, plan, asked }) => {
    const scanned = nodesOf(plan).filter(
      (node) =>
        node['Node Type'].includes('Seq Scan') && grown.has(node['Relation Name'] ?? '') && readBy(node) > GROWN,
    );
    const [rows, pages] = [rowsRead(plan), pagesRead(plan)];
    const mostRows = asked.includes('/admin/search') ? MOST_OF_SEARCH : MOST.rows;
    if (scanned.length === 0 && rows <= mostRows && pages <= MOST.pages) return [];
    const plain = text.replace(/\s+/g, ' ').trim();
    if (exempt.some((one) => (one.text?.test(plain) ?? true) && (one.asked?.test(asked) ?? true))) return [];
    return [
      {
        asked,
        rows,
        pages,
        scanned: scanned.map((node) => node['Relation Name']),
        text: plain.slice(0, 600),
      },
    ];
  });
  expect(faults.sort((a, b) => b.rows + b.pages - a.rows - a.pages)).toEqual([]);
});
