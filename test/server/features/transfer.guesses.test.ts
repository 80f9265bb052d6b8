// Owns: what somebody who may write clients or webhooks of one realm can learn of secrets: stored ones by plans, and those of
// the server's environment by placeholders.
// Does not own: who may have a secret compared at all (transfer.rights.test.ts), rotation as such (transfer.test.ts).
// Implements: decisions "Import, export, plan" (Secrets in a document).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putClientAdminRoles } from '../../../server/contract/admin-access.ts';
import type { Client, ServerProblem } from '../../../server/contract/client.ts';
import { listClients, putClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import type { Permission } from '../../../server/contract/permissions.ts';
import { importRealm, type Plan, type RealmDocument } from '../../../server/contract/transfer.ts';
import { listWebhooks, putWebhook } from '../../../server/contract/webhooks.ts';
import { administrator } from '../../support/administrators.ts';
import { makeRealm } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { importer } from '../../support/transfer.ts';

const SECRET = 'the-secret-that-is-stored-0123456789';
const ANOTHERS = 'a-secret-of-the-environment-0123456789';
const HELD: Permission[] = ['clients:read', 'clients:write', 'webhooks:read', 'webhooks:write', 'events:read'];
/** Different wrong values that are answered. */
const MOST = 10;
const MINUTE = 60_000;
let server: TestServer;
let now = Date.now();
let made = 0;

beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(now), env: { SVC_VAR_ANOTHERS: ANOTHERS } });
});
afterAll(() => server?.stop());

/** A realm with a client and a webhook, and who may write these there, as a user of master. */
async function tenancy(): Promise<{ realm: string; who: Client }> {
  made += 1;
  const realm = `guessed-${made}`;
  await makeRealm(server, realm);
  await send(server.admin, realm, { ...client(SECRET), ...hook(SECRET) }, { manager: 'owner' });
  return { realm, who: await administrator(server, { target: realm, permissions: HELD }) };
}
const client = (secret: string): RealmDocument => ({ clients: [{ clientId: 'app', secret }] });
const listener = { url: 'https://hooks.example.com/', eventTypes: '*' };
const hook = (secret: string): RealmDocument => ({ webhooks: [{ name: 'hook', ...listener, secret }] });
type Query = { manager?: string; dryRun?: 'true' | 'false'; force?: 'true' };
async function send(who: Client, realm: string, body: RealmDocument, query: Query = {}): Promise<Plan | undefined> {
  return (await who.call(importRealm, { params: { realm }, query: { manager: 'me', ...query }, body })).body;
}
const wrong = (n: number) => `a-wrong-guess-number-${String(n).padStart(6, '0')}`;
const refusal = (work: Promise<unknown>): Promise<ServerProblem> =>
  work.then(
    () => expect.fail('it was not refused'),
    (error: ServerProblem) => error,
  );
const plan = (who: Client, realm: string, body: RealmDocument) =>
  send(who, realm, body, { dryRun: 'true', force: 'true' });
async function wear(who: Client, realm: string, document: (secret: string) => RealmDocument, count = MOST) {
  for (let n = 0; n < count; n += 1) expect((await plan(who, realm, document(wrong(n))))?.changes).toHaveLength(1);
}
const tooMany = { status: 429, problem: { type: 'urn:svc:problem:too-many-requests' } };

describe('a stored secret', () => {
  test.each([
    ['a client', client],
    ['a webhook', hook],
  ])(
    'of %s is guessed ten times by plans, then nothing is told any more, of the right value either',
    async (_, document) => {
      const { realm, who } = await tenancy();
      await wear(who, realm, document);
      for (const value of [wrong(MOST), wrong(0), SECRET])
        expect(await refusal(plan(who, realm, document(value)))).toMatchObject(tooMany);
      expect(await refusal(send(who, realm, document(wrong(0)), { force: 'true' }))).toMatchObject(tooMany);
      // Nobody else is held up, and nothing else.
      expect((await plan(server.admin, realm, document(SECRET)))?.changes).toEqual([]);
      expect((await plan(who, realm, { clients: [{ clientId: 'app', name: 'App' }] }))?.changes).toHaveLength(1);
      const { body: events } = await server.admin.call(listEvents, {
        params: { realm },
        query: { type: 'ACCESS_DENIED' },
      });
      expect(events?.[0]?.data).toMatchObject({ permission: 'too-many-requests' });
      now += 16 * MINUTE;
      expect((await plan(who, realm, document(SECRET)))?.changes).toEqual([]);
    },
  );

  test('says when to come back, and counts where every replica sees it, without what was guessed', async () => {
    const { realm } = await tenancy();
    await wear(server.admin, realm, client);
    const { rows } = await server.pool.query('select digest from secret_guess where realm_id = $1', [realm]);
    expect(rows.map(({ digest }) => digest.length)).toEqual(Array(MOST).fill(32));
    now += 5 * MINUTE;
    const { url, headers } = (await importer(server)).raw(`/admin/realms/${realm}/import?dryRun=true&force=true`);
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(client(SECRET)) });
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '600']);
  });

  test('is not guessed by imports that end in a conflict or another refusal', async () => {
    const { realm, who } = await tenancy();
    const taken = { webhooks: [{ name: 'hook', url: 'https://evil.example.com/', eventTypes: '*' }] };
    await server.admin.call(importRealm, { params: { realm }, query: { manager: 'me' }, body: { clients: [] } });
    await server.pool.query("delete from managed_object where realm_id = $1 and kind = 'client'", [realm]);
    for (let n = 0; n < MOST; n += 1)
      expect(await refusal(send(who, realm, { ...client(wrong(n)), ...taken }))).toMatchObject({ status: 409 });
    expect(await refusal(send(who, realm, { ...client(SECRET), ...taken }))).toMatchObject(tooMany);
    const other = await tenancy();
    const nowhere = (secret: string) => ({ clients: [{ clientId: 'app', secret, flowOverride: 'nowhere' }] });
    for (let n = 0; n < MOST; n += 1)
      expect(await refusal(plan(other.who, other.realm, nowhere(wrong(n))))).toMatchObject({ status: 400 });
    expect(await refusal(plan(other.who, other.realm, client(SECRET)))).toMatchObject(tooMany);
  });

  test('is not guessed oftener by asking at once, or under another name', async () => {
    const { realm, who } = await tenancy();
    const answers = await Promise.allSettled(
      Array.from({ length: 4 * MOST }, (_, n) => plan(who, realm, hook(wrong(n)))),
    );
    const told = answers.filter(({ status }) => status === 'fulfilled').length;
    expect(told).toBeLessThanOrEqual(MOST);
    for (let n = told; n < MOST; n += 1) await plan(who, realm, hook(wrong(1_000 + n)));
    const { body: hooks } = await server.admin.call(listWebhooks, { params: { realm } });
    const [{ id, ...rest } = expect.fail('no webhook')] = hooks ?? [];
    const renamed = { name: 'renamed', url: rest.url, eventTypes: rest.eventTypes, enabled: true };
    await who.call(putWebhook, { params: { realm, id }, body: renamed });
    const again = { webhooks: [{ ...renamed, secret: SECRET }] };
    expect(await refusal(plan(who, realm, again))).toMatchObject(tooMany);
  });
});

describe('who works with secrets all day', () => {
  test('may send the stored one as often as they like, by plan and by import', async () => {
    const { realm, who } = await tenancy();
    for (let n = 0; n < 3 * MOST; n += 1) {
      expect((await plan(who, realm, client(SECRET)))?.changes).toEqual([]);
      await send(who, realm, client(SECRET), { force: 'true' });
    }
  });

  test('may rotate as often as they like, planned before or not', async () => {
    const { realm, who } = await tenancy();
    for (let n = 0; n < MOST + 2; n += 1) {
      for (const dryRun of ['true', 'false'] as const) {
        const answer = await send(who, realm, { ...client(wrong(n)), ...hook(wrong(n)) }, { dryRun, force: 'true' });
        expect(answer?.summary.update).toBe(2);
      }
    }
    const { rows } = await server.pool.query('select from secret_guess where realm_id = $1', [realm]);
    expect(rows).toEqual([]);
  });

  test('may plan one rotation again and again, and of many secrets at once', async () => {
    const { realm, who } = await tenancy();
    const many = (secret: string) => ({
      webhooks: Array.from({ length: 3 * MOST }, (_, i) => ({
        ...listener,
        name: `hook-${i}`,
        secret: `${secret}-${i}`,
      })),
    });
    await send(who, realm, many('the-old-secret-of-all'));
    for (let n = 0; n < 2 * MOST; n += 1)
      expect((await plan(who, realm, many('the-new-secret-of-all')))?.summary.update).toBe(3 * MOST);
    expect((await send(who, realm, many('the-new-secret-of-all')))?.summary.update).toBe(3 * MOST);
  });
});

describe('a variable of the server’s environment', () => {
  const named = (name: string) => `\${${name}}`;

  test('is nobody’s who writes in one realm alone, and no answer tells whether there is such a name', async () => {
    const { realm, who } = await tenancy();
    const answers = { new: new Set<string>(), stored: new Set<string>() };
    for (const name of ['SVC_VAR_ANOTHERS', 'SVC_VAR_NOBODYS']) {
      const secret = named(name);
      const fresh = {
        clients: [{ clientId: 'another', secret }],
        webhooks: [{ name: 'another', ...listener, secret }],
      };
      const { status, problem } = await refusal(send(who, realm, fresh));
      answers.new.add(JSON.stringify({ status, problem }));
      const kept = await plan(who, realm, { ...client(secret), ...hook(secret) });
      answers.stored.add(JSON.stringify(kept).replaceAll(name, 'THE_NAME'));
    }
    expect([answers.new.size, answers.stored.size]).toEqual([1, 1]);
    expect([...answers.new][0]).toMatch(/clients:write|webhooks:write/);
    expect([...answers.new][0]).not.toMatch(/SVC_VAR/);
  });

  test('that isn’t there, or not theirs to use, leaves the stored secret as it is', async () => {
    const { realm, who } = await tenancy();
    const stored = async () => {
      const { rows } = await server.pool.query(
        `select (select row(secret_hash)::text from client where realm_id = $1 and client_id = 'app') as client,
                (select secret::text from webhook where realm_id = $1) as webhook`,
        [realm],
      );
      return rows[0];
    };
    const before = await stored();
    const kept = (because: string, variable: string) => [
      { kind: 'client', key: 'app', path: 'secret', because, variable },
      { kind: 'webhook', key: 'hook', path: 'secret', because, variable },
    ];
    for (const [by, name, because] of [
      [who, 'SVC_VAR_ANOTHERS', 'notCompared'],
      [server.admin, 'SVC_VAR_NOBODYS', 'variableNotSet'],
    ] as const) {
      const document = { ...client(named(name)), ...hook(named(name)) };
      const done = await send(by, realm, document, { force: 'true' });
      expect(done).toMatchObject({ changes: [], keptSecrets: kept(because, name) });
      expect(await send(by, realm, document, { dryRun: 'true' })).toMatchObject({ inSync: true, changes: [] });
    }
    expect(await stored()).toEqual(before);
    // another field changes by itself, and the secret stays
    const changed = { clients: [{ clientId: 'app', name: 'App', secret: named('SVC_VAR_NOBODYS') }] };
    expect((await send(server.admin, realm, changed))?.changes).toMatchObject([{ fields: [{ path: 'name' }] }]);
    expect(await stored()).toEqual(before);
    expect((await plan(server.admin, realm, client(SECRET)))?.changes).toEqual([]);
  });

  test('is for who holds that permission over every realm, and for no other section', async () => {
    const { realm } = await tenancy();
    const everywhere = await administrator(server, { target: '*', permissions: ['clients:read', 'clients:write'] });
    await send(everywhere, realm, client(named('SVC_VAR_ANOTHERS')), { force: 'true' });
    expect((await plan(server.admin, realm, client(ANOTHERS)))?.changes).toEqual([]);
    const another = { clients: [{ clientId: 'another', secret: named('SVC_VAR_NOBODYS') }] };
    expect(await refusal(send(everywhere, realm, another))).toMatchObject({
      status: 400,
      problem: { missing: ['SVC_VAR_NOBODYS'] },
    });
    const mixed = await administrator(server, {
      target: '*',
      permissions: ['webhooks:read', 'clients:read', 'clients:write'],
    });
    const unowned = { webhooks: [{ name: 'another', ...listener, secret: named('SVC_VAR_ANOTHERS') }] };
    expect(await refusal(send(mixed, realm, unowned))).toMatchObject({ status: 403 });
  });
});

test('the secret of a client that holds more is not to be guessed by setting it either', async () => {
  const { realm, who } = await tenancy();
  const { body: clients } = await server.admin.call(listClients, { params: { realm } });
  const id = clients?.find(({ clientId }) => clientId === 'app')?.id ?? '';
  const grants = [{ role: 'realm-admin', realm }];
  await server.admin.call(putClientAdminRoles, { params: { realm, id }, body: { grants } });
  for (const secret of [SECRET, wrong(0)])
    expect(await refusal(who.call(putClient, { params: { realm, id }, body: { secret } }))).toMatchObject({
      status: 403,
      problem: { type: 'urn:svc:problem:privilege-escalation' },
    });
});
