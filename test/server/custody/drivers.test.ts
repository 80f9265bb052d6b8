// How the server signs in at Vault, reads a key file again, and reads the address of a custodian.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BadEnvironment, parseConfig } from '../../../server/config.ts';
import { createSeal } from '../../../server/crypto/seal.ts';
import { pkcs11Place } from '../../../server/custody/drivers/pkcs11.ts';
import { openVault, vaultPlace } from '../../../server/custody/drivers/vault.ts';
import { openKeyFile } from '../../../server/custody/key-file.ts';
import { createOutbound } from '../../../server/http/outbound.ts';
import { parseKeyring } from '../../../server/key-settings.ts';
import { serviceAccountToken, startTransit, type Transit } from '../../support/transit.ts';

let folder: string;
let transit: Transit;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'custody-'));
  transit = await startTransit({ mount: 'team/transit', scheme: 'openbao' });
});
afterAll(async () => {
  await transit?.stop();
  await rm(folder, { recursive: true, force: true });
});

const KEY = Buffer.alloc(32, 3);
const vault = (env: Record<string, string>) =>
  openVault(transit.uri, {
    config: parseConfig({ SVC_KEY_CUSTODIAN: transit.uri, ...env }),
    outboundTo: (hosts) => createOutbound({ allow: hosts }),
    now: () => new Date(),
  });

test('at OpenBao the server signs in by its service account, once, and again when its token was revoked', async () => {
  const file = path.join(folder, 'jwt');
  await writeFile(file, serviceAccountToken);
  const custodian = vault({ SVC_VAULT_ROLE: 'realmkeeper', SVC_VAULT_JWT_FILE: file, SVC_VAULT_NAMESPACE: 'team-a' });
  try {
    const wrapped = await custodian.wrap(KEY);
    expect(await custodian.unwrap(wrapped)).toEqual(KEY);
    transit.revoke();
    expect(await custodian.unwrap(wrapped)).toEqual(KEY);
    const logins = transit.asked.filter(({ path }) => path === '/v1/auth/kubernetes/login');
    expect(logins).toHaveLength(2);
    expect(new Set(transit.asked.map(({ namespace }) => namespace))).toEqual(new Set(['team-a']));
    expect(transit.asked.map(({ path }) => path)).toContain('/v1/team/transit/encrypt/realmkeeper');
    await expect(custodian.unwrap(Buffer.from('vault:v1:AAAA'))).rejects.toMatchObject({ away: false });
  } finally {
    await custodian.close();
  }
});

test('a token is read from its file at each request, so that an agent can renew it', async () => {
  const file = path.join(folder, 'token');
  await writeFile(file, 'expired');
  const custodian = vault({ SVC_VAULT_TOKEN_FILE: file });
  try {
    await expect(custodian.wrap(KEY)).rejects.toMatchObject({
      away: false,
      message: expect.stringContaining('permission denied'),
    });
    await writeFile(file, `${transit.token}\n`);
    expect(await custodian.unwrap(await custodian.wrap(KEY))).toEqual(KEY);
    await writeFile(file, 'two\r\nlines');
    await expect(custodian.wrap(KEY)).rejects.toThrow('SVC_VAULT_TOKEN_FILE');
  } finally {
    await custodian.close();
  }
});

test('a key file that changes is read again; one that holds no keyring changes nothing and is logged without its content', async () => {
  const file = path.join(folder, 'keyring');
  const [old, fresh] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  await writeFile(file, old.toString('base64'));
  const lines: string[] = [];
  const log = { info: (line: string) => void lines.push(line), warn: (line: string) => void lines.push(line) };
  const { keyring, stop } = openKeyFile(file, { parse: parseKeyring, log, lookMs: 20 });
  try {
    const seal = createSeal(keyring);
    const before = seal.seal('secret', 'x');
    await writeFile(file, `${fresh.toString('base64')},${old.toString('base64')}\n`);
    await expect.poll(() => seal.keys).toBe(2);
    expect(seal.newestKey).toEqual(createSeal([fresh]).newestKey);
    expect(seal.open(before, 'x').toString()).toBe('secret');
    await writeFile(file, 'no-keyring-at-all');
    await expect.poll(() => lines.filter((line) => line.includes('SVC_MASTER_KEY_FILE')).length).toBe(1);
    await rm(file);
    await expect.poll(() => lines.some((line) => line.includes("can't be read"))).toBe(true);
    expect(seal.open(before, 'x').toString()).toBe('secret');
    expect(lines.join()).not.toContain('no-keyring-at-all');
  } finally {
    stop();
  }
  expect(() => openKeyFile(path.join(folder, 'nowhere'), { parse: parseKeyring, log })).toThrow('SVC_MASTER_KEY_FILE');
});

const MODULE = 'module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/run/secrets/pin';

test('a PKCS#11 address is read as RFC 7512 has it, with its percent-encoding', () => {
  expect(pkcs11Place(`pkcs11:token=My%20token;object=master;id=%01%ff?${MODULE}`)).toEqual({
    module: '/usr/lib/softhsm/libsofthsm2.so',
    pinFile: '/run/secrets/pin',
    token: { label: 'My token', serial: undefined },
    object: 'master',
    id: Buffer.from([1, 255]),
  });
});

test.each([
  [`pkcs11:token=x;object=y?${MODULE}&pin-value=1234`, 'pin-source'],
  ['pkcs11:token=x;object=y?module-path=/lib/x.so', 'pin-source'],
  ['pkcs11:token=x;object=y?pin-source=file:/pin&module-path=x.so', 'module-path'],
  [`pkcs11:object=y?${MODULE}`, 'token'],
  [`pkcs11:token=x?${MODULE}`, 'object'],
])('%s is refused, and the message says %s', (uri, word) => {
  const refused = () => pkcs11Place(uri);
  expect(refused).toThrow('SVC_KEY_CUSTODIAN');
  expect(refused).toThrow(word);
  expect(refused).not.toThrow('1234');
});

test.each([
  'hashivault://vault.example.com/realmkeeper',
  'hashivault://user:secret@vault.example.com/transit/realmkeeper',
  'hashivault://vault.example.com/transit/x?a=b',
])('the address %s of a Vault is refused', (uri) => {
  expect(() => vaultPlace(uri)).toThrow('SVC_KEY_CUSTODIAN');
});

test('faults of the keys’ settings are named together', () => {
  const faultsOf = (env: Record<string, string>) => {
    try {
      parseConfig(env);
      return [];
    } catch (error) {
      return error instanceof BadEnvironment ? error.faults : [String(error)];
    }
  };
  const DATABASE_URL = 'postgres://x@127.0.0.1/x';
  expect(faultsOf({ DATABASE_URL })).toEqual([expect.stringContaining('SVC_MASTER_KEY: is required')]);
  expect(faultsOf({ DATABASE_URL, SVC_MASTER_KEY_FILE: '/key' })).toEqual([]);
  expect(faultsOf({ DATABASE_URL, SVC_KEY_CUSTODIAN: 'pkcs11:token=x' })).toEqual([]);
  expect(faultsOf({ SVC_MASTER_KEY_FILE: '/key', SVC_MASTER_KEY: KEY.toString('base64') })).toEqual([
    expect.stringContaining('SVC_MASTER_KEY_FILE'),
  ]);
  expect(faultsOf({ SVC_KEY_CUSTODIAN: 'vault.example.com' })).toEqual(
    expect.arrayContaining([expect.stringContaining('SVC_KEY_CUSTODIAN')]),
  );
  expect(faultsOf({ SVC_KEY_CUSTODIAN: 'hashivault://x/transit/y' })).toEqual([
    expect.stringContaining('SVC_VAULT_ROLE'),
  ]);
});
