// Owns: documents of earlier builds: they are imported, whatever their shape, and the import is complete.
// Does not own: documents of today (transfer.test.ts), the same in the database (server/db/claims-migration.test.ts).
// Implements: specification 2.6, 2.10, 9; contract/earlier-documents.ts.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

const folder = path.join(import.meta.dirname, '../fixtures/exports');
const exports = readdirSync(folder).filter((file) => file.endsWith('.json'));
const read = (file: string) => JSON.parse(readFileSync(path.join(folder, file), 'utf8'));

const SECRET = 'Kq3vT9xZ0bRw7LmY2sHdF5jN8pGcAe4U';

let server: TestServer;
let admin: Importer;
let realms = 0;
const newRealm = () => {
  realms += 1;
  return `earlier-${realms}`;
};
beforeAll(async () => {
  const names: string[] = exports.flatMap((file) => read(file).requiredEnv);
  server = await startTestServer({ env: Object.fromEntries(names.map((name) => [name, SECRET])) });
  admin = await importer(server);
});
afterAll(() => server?.stop());

const exported = async (realm: string) => JSON.parse(await admin.download(realm));
const named = (list: readonly { name: string }[], name: string) => list.find((one) => one.name === name);

test.each(exports)('the export of %s is imported, and importing it again changes nothing', async (file) => {
  const realm = newRealm();
  const document = read(file);
  document.realm.realmId = realm;
  const dry = await admin.apply(realm, document, { dryRun: 'true' });
  expect(dry.summary.create).toBeGreaterThan(0);
  await admin.apply(realm, document);
  expect(await admin.apply(realm, document)).toMatchObject({ changes: [], inSync: true });
  const now = await exported(realm);
  for (const section of ['clients', 'clientScopes', 'roles', 'groups', 'users'])
    expect(now[section].length, section).toBeGreaterThanOrEqual(document[section].length);
});

describe('claims that a client scope defines', () => {
  test('become claims of their names', async () => {
    const realm = newRealm();
    await admin.apply(realm, { ...read('2026-11-21.json'), realm: { displayName: 'Acme' }, users: undefined });
    const { claims, clientScopes } = await exported(realm);
    expect(named(clientScopes, 'shop-tier')).toMatchObject({ claims: ['tier'] });
    expect(named(clientScopes, 'user-tier')).toMatchObject({ claims: ['tier #2'] });
    expect(named(claims, 'tier')).toMatchObject({
      source: 'constant',
      value: 'gold',
      in: ['accessToken', 'userinfo'],
    });
    expect(named(claims, 'tier #2')).toMatchObject({ claim: 'tier', source: 'attribute', attribute: 'tier' });
    expect(named(claims, 'resource_access')).toMatchObject({ source: 'clientRoles', in: ['accessToken'] });
    expect(named(claims, 'phone_number_verified')).toMatchObject({ jsonType: 'boolean' });
  });

  test('are refused by their place where they are none', async () => {
    const scope = (claim: object) => ({ clientScopes: [{ name: 'x', claims: [claim] }] });
    expect((await admin.refusal(newRealm(), scope({ name: 'a', source: 'magic' }))).errors).toEqual([
      { path: 'clientScopes[0].claims[0]', message: 'must be a string, not an object' },
    ]);
    const reserved = await admin.refusal(newRealm(), scope({ name: 'sub', source: 'constant', value: 'x' }));
    expect(reserved).toMatchObject({ status: 400 });
  });

  test('are refused where the document defines a claim of that name itself', async () => {
    const refused = await admin.refusal(newRealm(), {
      claims: [{ name: 'tier', source: 'constant', value: '1' }],
      clientScopes: [{ name: 'x', claims: [{ name: 'tier', source: 'constant', value: '2' }] }],
    });
    expect(refused.errors?.[0]?.message).toContain('declares tier again');
  });
});

describe('a message template without a locale', () => {
  const template = (body: string, more: object = {}) => ({
    messageTemplates: [{ templateKey: 'otp-sms', channel: 'SMS', body, ...more }],
  });
  const bodies = async (realm: string) => {
    const { messageTemplates } = await exported(realm);
    return Object.fromEntries(
      messageTemplates
        .filter(({ templateKey }: { templateKey: string }) => templateKey === 'otp-sms')
        .map(({ locale, body }: { locale: string; body: string }) => [locale, body]),
    );
  };
  const german = { realm: { supportedLocales: ['en', 'de'], defaultLocale: 'de' } };

  test('is in the default language that the document gives to the realm', async () => {
    const realm = newRealm();
    await admin.apply(realm, { ...template('Code {{code}}'), ...german });
    expect(await bodies(realm)).toMatchObject({ de: 'Code {{code}}' });
    expect((await admin.apply(realm, { ...template('Code {{code}}'), ...german })).inSync).toBe(true);
  });

  test('is in the default language that the realm has', async () => {
    const realm = newRealm();
    await admin.apply(realm, german);
    await admin.apply(realm, template('Ihr Code {{code}}'));
    expect(await bodies(realm)).toMatchObject({ de: 'Ihr Code {{code}}' });
    const english = newRealm();
    await admin.apply(english, template('Your code {{code}}'));
    expect(await bodies(english)).toEqual({ en: 'Your code {{code}}' });
  });

  test('is refused where the document has it in that language, too', async () => {
    const document = {
      messageTemplates: [...template('a').messageTemplates, ...template('b', { locale: 'en' }).messageTemplates],
    };
    expect((await admin.refusal(newRealm(), document)).errors?.[0]?.message).toContain('again');
  });
});

test('another version of the format is refused, and named', async () => {
  const { errors } = await admin.refusal(newRealm(), { formatVersion: 3, roles: [] });
  expect(errors).toEqual([{ path: 'formatVersion', message: 'must be 2' }]);
});

test('an export of a fresh realm has the keys of the specification, and others only where they hold something', async () => {
  const realm = newRealm();
  await admin.apply(realm, { realm: {} });
  const specified =
    'adminRoles agents applications authorizationServices clientProtocolMappers clientRoles clientScopes clients flows formatVersion groups identityProviders messageTemplates messagingProviders organizations realm requiredEnv resourceIndicators roles samlClients scimTargets serviceAccountRoles users webhooks workloadIdentity'.split(
      ' ',
    );
  const document = await exported(realm);
  expect(Object.keys(document)).toEqual(expect.arrayContaining(specified));
  const further = Object.keys(document).filter((key) => !specified.includes(key));
  for (const key of further) expect(Object.keys(document[key]).length, key).toBeGreaterThan(0);
  expect(further).toContain('claims');
});
