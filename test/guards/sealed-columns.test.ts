// Whatever is sealed under the master key can be sealed again when it rotates.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sealedColumns } from '../../server/compose/sealed-columns.ts';
import { connectedCluster } from '../support/cluster.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** Bytes that nobody reads again: what is compared, and names of rows; what is sealed for ten minutes; and what the custodian wraps. */
const compared =
  /(?:_hash|_digest|^hash|^digest|_slow)$|^sign_in\.id$|^backchannel_authentication\.notification$|^data_key\.wrapped$/;

test('each column of bytes is a hash, or one that is sealed again', async () => {
  const columns = await connectedCluster(database.url, async (client) => {
    const { rows } = await client.query<{ table: string; column: string }>(
      `select table_name as table, column_name as column from information_schema.columns
       where table_schema = 'public' and data_type = 'bytea'`,
    );
    return rows;
  });
  const unknown = columns.filter(
    ({ table, column }) =>
      !compared.test(column) &&
      !compared.test(`${table}.${column}`) &&
      !sealedColumns.some((one) => one.table === table && one.column === column),
  );
  expect(unknown).toEqual([]);
});

/** Who seals, and where that goes: a table of server/compose/sealed-columns.ts, or something that lives for minutes. */
const sealers: Record<string, string> = {
  // Goes to the person and back, for ten minutes.
  'server/features/authentication/account/tickets.ts': 'a sign-in',
  'server/crypto/otp.ts': 'credential',
  'server/events/block.ts': 'event_chain',
  'server/resource/at-rest.ts': 'webhook',
  'server/features/configuration/keys/encryption-keys.ts': 'realm_encryption_key',
  'server/features/configuration/keys/seed.ts': 'realm_key',
  'server/features/configuration/messaging/push-tokens.ts': 'push_token',
  'server/features/configuration/messaging/send.ts': 'message',
  'server/domain/subjects.ts': 'realm',
  'server/domain/reseal.ts': 'realm',
  'server/backup/secrets.ts': 'realm',
  'server/features/authentication/authenticators/magic-link.ts': 'a sign-in',
  'server/features/authentication/authenticators/otp.ts': 'a sign-in',
  'server/features/authentication/authenticators/push.ts': 'a sign-in',
  // A QR code, and a device until the sign-in confirms it.
  'server/features/people/devices/challenges.ts': 'a sign-in',
  'server/features/people/devices/enrolment.ts': 'a sign-in',
  'server/features/authentication/authenticators/recovery-codes.ts': 'a sign-in',
  'server/features/authentication/brokering/connect.ts': 'a sign-in',
  'server/features/authentication/brokering/logout.ts': 'a sign-in',
  'server/features/authentication/brokering/provider-sessions.ts': 'provider_session',
  'server/features/authentication/brokering/provider-tokens.ts': 'provider_token',
  'server/features/authentication/brokering/saml-logout.ts': 'a sign-in',
  'server/features/authentication/brokering/saml.ts': 'a sign-in',
  'server/features/authentication/brokering/service.ts': 'a sign-in',
  // A token of the client, for ten minutes.
  'server/features/protocol/backchannel/notify-job.ts': 'a sign-in',
  'server/features/protocol/backchannel/service.ts': 'a sign-in',
  'server/features/protocol/saml/kept.ts': 'a sign-in',
  'server/features/protocol/ssf/service.ts': 'signal_stream',
  'server/features/authentication/self-registration/register.ts': 'a sign-in',
  'server/features/authentication/sign-in/cookie.ts': 'a sign-in',
};

test('nobody else seals', () => {
  const root = path.resolve(import.meta.dirname, '../..');
  const files = readdirSync(path.join(root, 'server'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `server/${file}`);
  const found = files.filter((file) => /\bseal\.seal\(/.test(readFileSync(path.join(root, file), 'utf8')));
  expect(found.toSorted()).toEqual(Object.keys(sealers).toSorted());
  const tables = new Set(sealedColumns.map(({ table }) => table));
  for (const [file, to] of Object.entries(sealers)) expect(to === 'a sign-in' || tables.has(to), file).toBe(true);
  // Kinds of the engine's: each names its table here or there.
  const kinds = files.flatMap((file) =>
    [...readFileSync(path.join(root, file), 'utf8').matchAll(/\bsealed\(seal, '([a-z-]+)'/g)].map(([, kind]) => kind),
  );
  for (const kind of kinds) expect(tables, kind).toContain(kind?.replaceAll('-', '_'));
});
