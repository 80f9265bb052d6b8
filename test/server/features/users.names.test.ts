// Owns: whose name a person may have: never another's address, and nothing that reads like another's name.
// Does not own: users otherwise (users.test.ts), how people sign in (sign-in.test.ts).
// Implements: decisions "User": usernames and addresses are unique in the realm; people sign in by both.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createUser, getUser, putUser } from '../../../server/contract/users.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let params = { realm: '' };
let realms = 0;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());
beforeEach(async () => {
  realms += 1;
  params = { realm: `acme-${realms}` };
  await server.admin.call(createRealm, { body: params });
});
type Named = { username: string; email?: string };
const create = async (body: Named) => (await server.admin.call(createUser, { params, body })).body?.id ?? '';
const rename = (userId: string, body: Partial<Named>) =>
  server.admin.call(putUser, { params: { ...params, userId }, body });
const load = (...users: Named[]) => server.admin.call(importRealm, { params, body: { users } });
const taken = { status: 409 };

describe('a username that is somebody else’s address', () => {
  beforeEach(() => create({ username: 'ada', email: 'ada@example.com' }));

  test('is refused to who is made, renamed or imported', async () => {
    await expect(create({ username: 'Ada@Example.com' })).rejects.toMatchObject(taken);
    const eve = await create({ username: 'eve' });
    await expect(rename(eve, { username: 'ada@example.com' })).rejects.toMatchObject(taken);
    await expect(load({ username: 'ada@example.com' })).rejects.toMatchObject(taken);
  });

  test('is refused the other way round: an address that is somebody else’s username', async () => {
    await create({ username: 'eve@example.com' });
    await expect(create({ username: 'bob', email: 'eve@example.com' })).rejects.toMatchObject(taken);
    const bob = await create({ username: 'bob' });
    await expect(rename(bob, { email: 'EVE@example.com' })).rejects.toMatchObject(taken);
    await expect(load({ username: 'zoe', email: 'eve@example.com' })).rejects.toMatchObject(taken);
  });

  test('is refused where they differ by compatibility forms alone, whichever was first', async () => {
    await expect(create({ username: 'ａda@example.com' })).rejects.toMatchObject(taken);
    await expect(load({ username: 'ａda@example.com' })).rejects.toMatchObject(taken);
    await create({ username: 'ｅve@example.com' });
    await expect(create({ username: 'bob', email: 'Eve@example.com' })).rejects.toMatchObject(taken);
    const bob = await create({ username: 'bob' });
    await expect(rename(bob, { email: 'eve@example.com' })).rejects.toMatchObject(taken);
    await expect(rename(bob, { username: 'ａda@example.com' })).rejects.toMatchObject(taken);
    await expect(load({ username: 'zoe', email: 'eve@example.com' })).rejects.toMatchObject(taken);
  });

  test('is refused within one document', async () => {
    const both = [{ username: 'x', email: 'y@example.com' }, { username: 'y@example.com' }];
    await expect(load(...both)).rejects.toMatchObject(taken);
  });

  test('is one’s own to have', async () => {
    const own = await create({ username: 'own@example.com', email: 'own@example.com' });
    expect((await rename(own, { email: 'OWN@example.com' })).status).toBe(200);
    expect((await load({ username: 'both@example.com', email: 'both@example.com' })).status).toBe(200);
  });
});

describe('a name that reads like another', () => {
  test('is refused where it differs by compatibility forms alone, whichever was first', async () => {
    await create({ username: 'alice' });
    await expect(create({ username: 'ａＬice' })).rejects.toMatchObject(taken);
    await expect(load({ username: 'ａlice' })).rejects.toMatchObject(taken);
    await create({ username: 'ｂob' });
    await expect(create({ username: 'Bob' })).rejects.toMatchObject(taken);
    await expect(create({ username: 'bｏb' })).rejects.toMatchObject(taken);
  });

  test.each([
    ['a zero-width space', 'al\u200bice'],
    ['a direction override', 'al\u202eice'],
    ['a Hangul filler', 'al\u3164ice'],
    ['a grapheme joiner', 'al\u034fice'],
    ['an empty Braille cell', 'al\u2800ice'],
    ['a soft hyphen', 'al\u00adice'],
  ])('is refused with %s', async (_, username) => {
    await expect(create({ username })).rejects.toMatchObject({ status: 400 });
    await expect(load({ username })).rejects.toMatchObject({ status: 400 });
  });

  test('is kept by who had it before, who can be read and changed', async () => {
    const id = await create({ username: 'old' });
    await create({ username: 'older', email: 'older@example.com' });
    const { pool } = server;
    await pool.query('alter table realm_user disable trigger realm_user_name_apart');
    await pool.query(`update realm_user set username = 'older\u200b' where realm_id = $1 and id = $2`, [
      params.realm,
      id,
    ]);
    await pool.query('alter table realm_user enable trigger realm_user_name_apart');
    const path = { params: { ...params, userId: id } };
    expect((await server.admin.call(getUser, path)).body?.username).toBe('older\u200b');
    expect((await server.admin.call(putUser, { ...path, body: { firstName: 'Olde' } })).status).toBe(200);
  });
});
