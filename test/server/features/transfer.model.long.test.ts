import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { Manager, type Plan, type RealmDocument } from '../../../server/contract/transfer.ts';
import {
  type Ask,
  apply,
  emptyWorld,
  type Fields,
  thingsOf,
  type World,
  withoutRoles,
} from '../../support/ownership-model.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

// Imports of several managers, and people who change things between them, in any order: the server does what a small
// model of ownership does (test/support/ownership-model.ts), says so before, and does nothing else.
let server: TestServer;
let admin: Importer;
const environment = {
  SVC_VAR_CLIENT_C_SECRET: 'the-secret-of-the-environment-0123456789',
  SVC_VAR_CLIENT_D_SECRET: 'another-one-of-the-environment-0123456789',
};

beforeAll(async () => {
  server = await startTestServer({ env: environment });
  admin = await importer(server);
});
afterAll(() => server?.stop());

const some = <T extends object, K extends keyof T>(fields: { [P in keyof T]: fc.Arbitrary<T[P]> }, ...required: K[]) =>
  fc.record(fields, { requiredKeys: required, noNullPrototype: true });
const listOf = <T>(one: fc.Arbitrary<T>, key: (value: T) => string) =>
  fc.uniqueArray(one, { maxLength: 3, selector: key });
const attributes = fc.constantFrom<Record<string, string[]>[]>({}, { k: ['1'] }, { k: ['2', '1'] });
const roleNames = ['a', 'b', 'c'];
const uris = ['https://a.example/cb', 'https://b.example/cb'];
const document: fc.Arbitrary<RealmDocument> = some({
  realm: some({
    maxLoginFailures: fc.constantFrom(3, 5, 7),
    rememberMe: fc.boolean(),
    welcomeText: fc.constantFrom(null, 'hello'),
  }),
  roles: listOf(
    some({ name: fc.constantFrom(...roleNames), description: fc.constantFrom(null, 'x', 'y'), attributes }, 'name'),
    (r) => r.name,
  ),
  groups: listOf(
    some({ path: fc.constantFrom('/g', '/h'), roles: fc.shuffledSubarray(roleNames), attributes }, 'path'),
    (g) => g.path,
  ),
  clients: listOf(
    some(
      {
        clientId: fc.constantFrom('c', 'd'),
        name: fc.constantFrom(null, 'N'),
        enabled: fc.boolean(),
        redirectUris: fc.shuffledSubarray(uris),
        secret: fc.constantFrom('a-literal-secret-0123456789abcdef', `\${SVC_VAR_CLIENT_C_SECRET}`),
      },
      'clientId',
    ),
    (c) => c.clientId,
  ),
  users: listOf(
    some(
      { username: fc.constantFrom('u', 'v'), firstName: fc.constantFrom(null, 'F'), enabled: fc.boolean() },
      'username',
    ),
    (u) => u.username,
  ),
});
const ask = fc.record({ manager: fc.constantFrom('m1', 'm2'), force: fc.boolean(), prune: fc.boolean() });
type Step =
  | { does: 'import'; document: RealmDocument; ask: Ask }
  | { does: 'change' | 'delete'; id: string; field: string; value: unknown };
const person: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    does: fc.constant('change' as const),
    id: fc.constantFrom('settings maxLoginFailures'),
    field: fc.constant('value'),
    value: fc.constantFrom(5, 9),
  }),
  fc.record({
    does: fc.constantFrom('change' as const, 'delete' as const),
    id: fc.constantFrom('role a', 'role b'),
    field: fc.constant('description'),
    value: fc.constantFrom('by hand', null),
  }),
  fc.record({
    does: fc.constantFrom('change' as const, 'delete' as const),
    id: fc.constantFrom('client c', 'client d'),
    field: fc.constant('name'),
    value: fc.constantFrom('By hand', null),
  }),
  fc.record({
    does: fc.constantFrom('change' as const, 'delete' as const),
    id: fc.constantFrom('user u', 'user v'),
    field: fc.constant('firstName'),
    value: fc.constantFrom('By hand', null),
  }),
);
const imported = fc.record({ does: fc.constant('import' as const), document, ask });
const steps = fc.array(fc.oneof({ weight: 3, arbitrary: imported }, { weight: 1, arbitrary: person }), {
  minLength: 3,
  maxLength: 9,
});

/** What every write leaves a trace in. */
const traces = async (realm: string) =>
  (
    await server.pool.query(
      `select (select count(*) from event where realm_id = $1)::int events, revision::int,
         (select count(*) from webhook_delivery where realm_id = $1)::int deliveries,
         (select max(last_applied_at) from manager where realm_id = $1) applied from realm where realm_id = $1`,
      [realm],
    )
  ).rows[0];

/** The plan in the model's words. */
function saidBy({ changes, ownership, kept }: Plan): { changes: string[]; moves: string[]; kept: string[] } {
  const said = changes.flatMap(({ action, kind, key, fields }) => {
    const ids = kind === 'settings' ? fields.map((f) => `settings ${f.path}`) : [`${kind} ${key}`];
    const told = fields.map(({ path, from, to }) => {
      const field = kind === 'settings' ? `settings ${path} value` : `${kind} ${key} ${path}`;
      return `${field}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`;
    });
    return [...ids.map((id) => `${action} ${id}`), ...told];
  });
  const moves = ownership.map((m) => `${m.action} ${m.kind} ${m.key}${m.from === undefined ? '' : ` from ${m.from}`}`);
  return { changes: said.sort(), moves: moves.sort(), kept: kept.map(({ kind, key }) => `${kind} ${key}`).sort() };
}

const sections: Record<string, [section: string, key: string]> = {
  role: ['roles', 'name'],
  group: ['groups', 'path'],
  client: ['clients', 'clientId'],
  user: ['users', 'username'],
};
const Exported = z.record(z.string(), z.unknown());
const Objects = z.array(z.record(z.string(), z.unknown()));

/** The realm as the model would have it: its fields of its kinds. */
async function stored(realm: string, world: World): Promise<Map<string, Fields>> {
  const exported = Exported.parse(JSON.parse(await admin.download(realm)));
  const all = new Map<string, Fields>();
  const settings = Exported.parse(exported.realm);
  for (const id of world.things.keys())
    if (id.startsWith('settings ')) all.set(id, { value: settings[id.slice('settings '.length)] });
  for (const [kind, [section, key]] of Object.entries(sections))
    for (const object of Objects.parse(exported[section])) {
      const id = `${kind} ${object[key]}`;
      const known = Object.keys(world.things.get(id) ?? {}).filter((field) => field !== 'secret');
      const secret = object.secret === undefined ? {} : { secret: '***' };
      all.set(id, { ...Object.fromEntries(known.map((field) => [field, object[field]])), ...secret });
    }
  return all;
}
const masked = (things: ReadonlyMap<string, Fields>) =>
  new Map([...things].map(([id, fields]) => [id, 'secret' in fields ? { ...fields, secret: '***' } : fields]));

async function owned(realm: string): Promise<string[]> {
  const managers = z.array(Manager).parse(await (await admin.fetch(`/admin/realms/${realm}/managers`)).json());
  return managers.flatMap((m) => m.owns.map((o) => `${m.manager}: ${o.kind} ${o.key} (${o.fields})`)).sort();
}
const ownedIn = ({ owners }: World) =>
  [...owners]
    .filter(([id]) => !id.startsWith('user '))
    .map(([id, { manager, fields }]) => `${manager}: ${id} (${fields})`)
    .sort();

const flags = ({ manager, force, prune }: Ask) => ({ manager, force: String(force), prune: String(prune) });

async function importing(realm: string, world: World, step: Extract<Step, { does: 'import' }>): Promise<World> {
  const query = flags(step.ask);
  const wanted = apply(world, thingsOf(step.document, environment), step.ask, step.document.users !== undefined);
  const before = await traces(realm);
  if ('refused' in wanted) {
    const refusal = await admin.refusal(realm, step.document, query);
    const conflicts = (refusal.conflicts ?? []).map((c) =>
      c.kind === 'settings' ? `settings ${c.path}` : `${c.kind} ${c.key}`,
    );
    const [status, ...named] = wanted.refused.split(' ');
    // Beside a conflict something else may be wrong, which is told first.
    if (named.length === 0 || refusal.conflicts) expect(refusal.status).toBe(Number(status));
    if (refusal.conflicts) expect(conflicts.sort().join(', ')).toBe(named.join(' '));
    expect(await traces(realm)).toEqual(before);
    return world;
  }
  const dry = await admin.apply(realm, step.document, { ...query, dryRun: 'true' });
  expect(await traces(realm)).toEqual(before);
  const plan = await admin.apply(realm, step.document, query);
  expect(saidBy(plan)).toEqual({ changes: wanted.changes, moves: wanted.moves, kept: wanted.kept });
  // How much goes, whom it touches, and what the document left out, is said beforehand only.
  expect(plan).toMatchObject({ consequences: [], deletions: [], undeclared: [], undeclaredUsers: { count: 0 } });
  const { consequences, deletions, undeclared, undeclaredUsers } = dry;
  const told = { consequences, deletions, undeclared, undeclaredUsers };
  expect({ ...plan, revision: 0, ...told }).toEqual({ ...dry, revision: 0 });
  const after = await traces(realm);
  expect(after.revision - before.revision).toBe(wanted.raises ? 1 : 0);
  if (plan.inSync) expect(after).toEqual(before);
  const again = await admin.apply(realm, step.document, query);
  expect(again).toMatchObject({ inSync: true, changes: [], ownership: [], revision: after.revision });
  expect(await traces(realm)).toEqual(after);
  return wanted.world;
}

const paths: Record<string, string> = { role: 'roles', client: 'clients', user: 'users' };

/** By the admin API, as a person would. */
async function byHand(realm: string, world: World, step: Exclude<Step, { does: 'import' }>): Promise<World> {
  const { id, field, value } = step;
  const there = world.things.get(id);
  if (!there) return world;
  const [kind = '', key = ''] = id.split(' ');
  const send = async (path: string, method: string, body?: object) => {
    const headers = { 'content-type': 'application/json' };
    const init = body ? { method, headers, body: JSON.stringify(body) } : { method };
    const { status } = await admin.fetch(`/admin/realms/${realm}/${path}`, init);
    expect(status).toBeLessThan(300);
  };
  if (kind === 'settings') await send('settings', 'PUT', { [key]: value });
  else {
    const list = Objects.parse(await (await admin.fetch(`/admin/realms/${realm}/${paths[kind]}`)).json());
    const found = list.find((object) => object[sections[kind]?.[1] ?? ''] === key);
    const path = `${paths[kind]}/${found?.id}`;
    await (step.does === 'delete' ? send(path, 'DELETE') : send(path, 'PUT', { [field]: value }));
  }
  const things = new Map(world.things);
  if (step.does === 'change') things.set(id, { ...there, [field]: value });
  else things.delete(id);
  const gone = new Set(step.does === 'delete' && kind === 'role' ? [key] : []);
  const owners = new Map(world.owners);
  // Users carry their manager themselves.
  if (step.does === 'delete' && kind === 'user') owners.delete(id);
  return { things: withoutRoles(things, gone), owners };
}

let realms = 0;

test('whatever managers import and people change between, only what the model does happens, and is said before', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      realms += 1;
      const realm = `model-${realms}`;
      const hook = { name: 'all', url: 'https://127.0.0.1:1/', eventTypes: 'ADMIN_WRITE,SETTINGS_UPDATED' };
      await admin.apply(realm, { webhooks: [hook] }, { manager: 'm0' });
      await admin.fetch(`/admin/realms/${realm}/managers/m0`, { method: 'DELETE' });
      let world = emptyWorld();
      for (const step of all) {
        world = await (step.does === 'import' ? importing(realm, world, step) : byHand(realm, world, step));
        expect(await stored(realm, world)).toEqual(masked(world.things));
        expect(await owned(realm)).toEqual(ownedIn(world));
      }
      const original = await admin.download(realm);
      await admin.apply(`${realm}-copy`, JSON.parse(original));
      expect(await admin.download(`${realm}-copy`)).toBe(original);
    }),
    { seed: 20_261_121, numRuns: 12, interruptAfterTimeLimit: 25_000, endOnFailure: true },
  );
}, 120_000);
