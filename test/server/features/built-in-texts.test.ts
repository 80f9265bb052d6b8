// The built-in texts of the pages by language, as administrators list them to replace some.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listBuiltInTexts, messageTexts } from '../../../server/contract/message-texts.ts';
import { administrator } from '../../support/administrators.ts';
import { makeRealm } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: 'acme' };
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, 'acme');
});
afterAll(() => server?.stop());

const list = (query: Parameters<typeof ask>[0] = {}) => ask(query).then(({ body }) => body ?? []);
const ask = (query: { locale?: string; q?: string; limit?: number; cursor?: string | undefined }) =>
  server.admin.call(listBuiltInTexts, { params, query });

test('every text is there in each language, with the same keys and the placeholders that a save demands', async () => {
  const english = await list({ limit: 1000 });
  const german = await list({ locale: 'de-CH', limit: 1000 });
  expect(german.map(({ key }) => key)).toEqual(english.map(({ key }) => key));
  expect(english.length).toBeGreaterThan(100);
  expect(german.filter(({ text }, at) => text !== english[at]?.text).length).toBeGreaterThan(100);
  const withPlaceholder = english.find(({ placeholders }) => placeholders.length > 0)!;
  const { key, text, placeholders } = withPlaceholder;
  expect(text).toContain(`{${placeholders[0]}}`);
  const save = (words: string) =>
    server.admin.call(messageTexts.routes.create, { params, body: { locale: 'en', texts: { [key]: words } } });
  await expect(save('without')).rejects.toMatchObject({ status: 400 });
  expect((await save(`new: ${text}`)).status).toBe(201);
  // the realm's own words change nothing of what is built in
  expect((await list({ q: key, limit: 1000 })).find((one) => one.key === key)).toEqual(withPlaceholder);
});

test('they are found by key and by text, and paged by key', async () => {
  const found = await list({ q: 'PASSWORD.TITLE' });
  expect(found.map(({ key }) => key)).toContain('password.title');
  const keys: string[] = [];
  const query: { limit: number; q: string; cursor?: string | undefined } = { limit: 7, q: 'password' };
  do {
    const { body, nextCursor } = await ask(query);
    keys.push(...(body ?? []).map(({ key }) => key));
    query.cursor = nextCursor;
  } while (query.cursor !== undefined);
  expect(keys).toEqual((await list({ q: 'password', limit: 1000 })).map(({ key }) => key));
  expect(keys.length).toBeGreaterThan(7);
});

test('a language without pages is refused, and so is an administrator without the permission', async () => {
  await expect(ask({ locale: 'sw' })).rejects.toMatchObject({ status: 400, problem: { errors: [{ path: 'locale' }] } });
  const other = await administrator(server, { target: 'acme', permissions: ['users:read'] });
  await expect(other.call(listBuiltInTexts, { params })).rejects.toMatchObject({ status: 403 });
});
