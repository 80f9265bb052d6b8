// The key services of AWS, Google Cloud and Azure: each way to sign in, credentials that end or are revoked, failures that are told
// apart and name no secret, and a start by each. The services are test/support/cloud-*.ts; none of the real ones was asked.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BadEnvironment, parseConfig } from '../../../server/config.ts';
import { createSeal } from '../../../server/crypto/seal.ts';
import type { Custodian } from '../../../server/custody/custodian.ts';
import { openKeyring } from '../../../server/custody/custody.ts';
import { openByHttp } from '../../../server/custody/drivers/by-http.ts';
import { openPool, sqlOver } from '../../../server/db/sql.ts';
import { createOutbound } from '../../../server/http/outbound.ts';
import { AWS_ROLE, startAws } from '../../support/cloud-aws.ts';
import { AZURE_CLIENT, AZURE_TENANT, startAzure } from '../../support/cloud-azure.ts';
import { startGoogle } from '../../support/cloud-google.ts';
import { createDatabase } from '../../support/database.ts';

const KEY = Buffer.alloc(32, 3);
const folder = mkdtempSync(path.join(os.tmpdir(), 'clouds-'));
const started = Date.now();
let later = 0;
const now = () => new Date(started + later);

let aws: Awaited<ReturnType<typeof startAws>>;
let google: Awaited<ReturnType<typeof startGoogle>>;
let azure: Awaited<ReturnType<typeof startAzure>>;
beforeAll(async () => {
  [aws, google, azure] = await Promise.all([startAws({ now }), startGoogle({ now }), startAzure({ now })]);
});
beforeEach(() => {
  for (const { asked } of [aws, google, azure]) asked.length = 0;
});
afterAll(async () => {
  await Promise.all([aws?.stop(), google?.stop(), azure?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

function file(name: string, content: string | object): string {
  const at = path.join(folder, name);
  writeFileSync(at, typeof content === 'string' ? content : JSON.stringify(content));
  return at;
}
type Env = Record<string, string>;

/** Each is a way to sign in: its environment, made when the servers run. */
const ways: Record<string, () => { uri: string; env: Env }> = {
  'AWS by keys in variables': () => {
    const { accessKeyId, secretAccessKey, sessionToken = '' } = aws.issue();
    const keys = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
    return { uri: aws.uri, env: { ...keys, AWS_SESSION_TOKEN: sessionToken, AWS_ENDPOINT_URL_KMS: aws.address } };
  },
  'AWS by a web identity': () => ({
    uri: aws.uri,
    env: {
      AWS_ROLE_ARN: AWS_ROLE,
      AWS_WEB_IDENTITY_TOKEN_FILE: file('web-identity', `${aws.expected.webIdentity}\n`),
      AWS_ENDPOINT_URL_KMS: aws.address,
      AWS_ENDPOINT_URL_STS: `${aws.address}/sts`,
    },
  }),
  'AWS by the agent of EKS Pod Identity': () => ({
    uri: aws.uri,
    env: {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${aws.address}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file('pod-identity', aws.expected.container),
      AWS_ENDPOINT_URL_KMS: aws.address,
    },
  }),
  'AWS by the role of the instance': () => ({
    uri: aws.uri,
    env: { AWS_EC2_METADATA_SERVICE_ENDPOINT: aws.address, AWS_ENDPOINT_URL_KMS: aws.address },
  }),
  'Google Cloud by the metadata server': () => ({
    uri: google.uri,
    env: { GCE_METADATA_HOST: google.host, SVC_GOOGLE_KMS_URL: google.address },
  }),
  'Google Cloud by the key of a service account': () => ({
    uri: google.uri,
    env: {
      GOOGLE_APPLICATION_CREDENTIALS: file('service-account.json', google.serviceAccount()),
      SVC_GOOGLE_KMS_URL: google.address,
    },
  }),
  'Google Cloud by workload identity federation': () => ({
    uri: google.uri,
    env: {
      GOOGLE_APPLICATION_CREDENTIALS: file(
        'external.json',
        google.externalAccount(file('subject', google.expected.subjectToken)),
      ),
      SVC_GOOGLE_KMS_URL: google.address,
    },
  }),
  'Google Cloud by federation as a service account, with a token in JSON': () => {
    const format = { format: { type: 'json', subject_token_field_name: 'id_token' } };
    const subject = file('subject.json', { id_token: google.expected.subjectToken });
    const account = google.externalAccount(subject, { impersonates: true, format });
    return {
      uri: google.uri,
      env: { GOOGLE_APPLICATION_CREDENTIALS: file('as.json', account), SVC_GOOGLE_KMS_URL: google.address },
    };
  },
  'Azure by workload identity': () => ({
    uri: azure.uri,
    env: {
      AZURE_FEDERATED_TOKEN_FILE: file('azure', azure.expected.assertion),
      AZURE_CLIENT_ID: AZURE_CLIENT,
      AZURE_TENANT_ID: AZURE_TENANT,
      AZURE_AUTHORITY_HOST: `${azure.address}/`,
    },
  }),
  'Azure by the machine’s managed identity': () => ({
    uri: azure.uri,
    env: { AZURE_POD_IDENTITY_AUTHORITY_HOST: azure.address },
  }),
  'Azure by the platform’s managed identity': () => ({
    uri: azure.uri,
    env: { IDENTITY_ENDPOINT: `${azure.address}/msi/token/`, IDENTITY_HEADER: azure.expected.identityHeader },
  }),
};
/** Keys in variables can't be renewed. */
const renewing = Object.keys(ways).filter((way) => way !== 'AWS by keys in variables');

const open = (uri: string, env: Env): Promise<Custodian> =>
  openByHttp(uri, {
    config: parseConfig({ SVC_KEY_CUSTODIAN: uri, ...env }),
    outboundTo: (hosts) => createOutbound({ allow: hosts }),
    now,
  });
async function custodianOf(way: string, changes: Env = {}, uri?: string): Promise<Custodian> {
  const found = ways[way]?.();
  if (!found) throw new Error(`there is no way ${way}`);
  return open(uri ?? found.uri, { ...found.env, ...changes });
}
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
const serverOf = (way: string) => (way.startsWith('AWS') ? aws : way.startsWith('Google') ? google : azure);
/** How often the custodian signed in. */
const signIns = (way: string) =>
  serverOf(way).asked.filter(
    (line) => /sts$|\/v1\/credentials|realmkeeper$|\/token\/?$/.test(line) && !/^PUT/.test(line),
  ).length;

describe.each(Object.keys(ways))('%s', (way) => {
  test('a data key is wrapped and unwrapped, and changed bytes are refused', async () => {
    const custodian = await custodianOf(way);
    const wrapped = await custodian.wrap(KEY);
    expect(wrapped.includes(KEY)).toBe(false);
    expect(await custodian.unwrap(wrapped)).toEqual(KEY);
    const changed = Buffer.from(wrapped);
    changed.writeUInt8(changed.readUInt8(changed.length - 9) === 65 ? 66 : 65, changed.length - 9);
    await expect(custodian.unwrap(changed)).rejects.toMatchObject({ away: false });
    await custodian.close();
  });
});

test.each(renewing)(
  '%s: a credential serves until shortly before its end, and once revoked another is fetched',
  async (way) => {
    const custodian = await custodianOf(way);
    const wrapped = await custodian.wrap(KEY);
    await custodian.unwrap(wrapped);
    expect(signIns(way)).toBe(1);
    later += 3600_000 - 301_000;
    await custodian.unwrap(wrapped);
    expect(signIns(way)).toBe(1);
    later += 2_000;
    await custodian.unwrap(wrapped);
    expect(signIns(way)).toBe(2);
    serverOf(way).revoke();
    expect(await custodian.unwrap(wrapped)).toEqual(KEY);
    expect(signIns(way)).toBe(3);
    await custodian.close();
  },
);

test('a credential that can’t be renewed serves until its end, and a token is read from its file again', async () => {
  const custodian = await custodianOf('AWS by a web identity');
  const wrapped = await custodian.wrap(KEY);
  file('web-identity', 'an.earlier.one');
  later += 3400_000;
  expect(await custodian.unwrap(wrapped)).toEqual(KEY);
  later += 300_000;
  const failure = await failureOf(custodian.unwrap(wrapped));
  expect(failure).toMatchObject({
    away: false,
    message: expect.stringMatching(/^AWS_ROLE_ARN: .*InvalidIdentityToken/),
  });
  expect(String(failure)).not.toContain('an.earlier.one');
  file('web-identity', aws.expected.webIdentity);
  expect(await custodian.unwrap(wrapped)).toEqual(KEY);
  await custodian.close();
});

test.each<[string, Env, RegExp, string]>([
  [
    'AWS by the agent of EKS Pod Identity',
    { AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: 'wrong' },
    /^AWS_CONTAINER_CREDENTIALS_FULL_URI: /,
    'a-wrong-token',
  ],
  ['AWS by keys in variables', { AWS_ACCESS_KEY_ID: 'AKIAUNKNOWN' }, /UnrecognizedClientException/, 'AKIAUNKNOWN'],
  [
    'AWS by keys in variables',
    { AWS_SECRET_ACCESS_KEY: 'a-wrong-secret' },
    /InvalidSignatureException.*security-token:\*\*\*/,
    'a-wrong-secret',
  ],
  [
    'Azure by workload identity',
    { AZURE_FEDERATED_TOKEN_FILE: 'wrong' },
    /^AZURE_CLIENT_ID: .*AADSTS700213/,
    'a-wrong-token',
  ],
  [
    'Azure by the platform’s managed identity',
    { IDENTITY_HEADER: 'a-wrong-header' },
    /^IDENTITY_ENDPOINT: .*400/,
    'a-wrong-header',
  ],
])(
  '%s with %o is refused, and the message names the setting and no credential',
  async (way, changes, words, secret) => {
    const env = Object.entries(changes).map(([name, value]) => [
      name,
      value === 'wrong' ? file('wrong', secret) : value,
    ]);
    const custodian = await custodianOf(way, Object.fromEntries(env));
    const failure = await failureOf(custodian.wrap(KEY));
    expect(failure).toMatchObject({ away: false, message: expect.stringMatching(words) });
    expect(String(failure)).not.toContain(secret);
    await custodian.close();
  },
);

test('a message of AWS never holds the session’s token', async () => {
  const credentials = aws.issue();
  const custodian = await custodianOf('AWS by keys in variables', {
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: 'a-wrong-secret',
    AWS_SESSION_TOKEN: credentials.sessionToken ?? '',
  });
  const failure = await failureOf(custodian.wrap(KEY));
  expect(String(failure)).toContain('x-amz-security-token:***');
  expect(String(failure)).not.toContain(credentials.sessionToken?.slice(0, 12));
  await custodian.close();
});

test('another key of a service account, or another subject, gets no token', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const accounts = [google.serviceAccount(privateKey), google.externalAccount(file('other', 'another.subject'))];
  for (const account of accounts) {
    const at = file('refused.json', account);
    const custodian = await custodianOf('Google Cloud by the key of a service account', {
      GOOGLE_APPLICATION_CREDENTIALS: at,
    });
    const failure = await failureOf(custodian.wrap(KEY));
    expect(failure).toMatchObject({
      away: false,
      message: expect.stringMatching(/^GOOGLE_APPLICATION_CREDENTIALS: .*invalid_grant/),
    });
    expect(String(failure)).not.toContain('another.subject');
    await custodian.close();
  }
});

test.each<[string, object | string, RegExp]>([
  [
    'sends tokens elsewhere',
    { token_url: 'https://sts.googleapis.com.example.com/v1/token' },
    /token_url: must be an https address of googleapis.com/,
  ],
  ['asks over http', { token_url: 'http://sts.googleapis.com/v1/token' }, /token_url/],
  [
    'runs a program',
    { credential_source: { executable: { command: '/bin/true' } } },
    /credential_source.file: must be a file/,
  ],
  ['is of another type', { type: 'authorized_user' }, /must be service_account or external_account/],
  ['is no JSON', 'a-secret', /is not JSON/],
])('a file of GOOGLE_APPLICATION_CREDENTIALS that %s is refused', async (_, changes, words) => {
  const account = typeof changes === 'string' ? changes : { ...google.externalAccount('/x'), ...changes };
  const custodian = await custodianOf('Google Cloud by the key of a service account', {
    GOOGLE_APPLICATION_CREDENTIALS: file('bad.json', account),
  });
  const failure = await failureOf(custodian.wrap(KEY));
  expect(failure).toMatchObject({ away: false, message: expect.stringMatching(words) });
  expect(String(failure)).not.toContain('a-secret');
  await custodian.close();
});

test.each([
  [
    'AWS by the role of the instance',
    'awskms://us-east-1/alias/realmkeeper',
    /Credential should be scoped to a valid region/,
  ],
  ['AWS by the role of the instance', 'awskms://eu-central-1/alias/other', /NotFoundException/],
  [
    'Google Cloud by the metadata server',
    'gcpkms://projects/example/locations/us/keyRings/realmkeeper/cryptoKeys/data-keys',
    /not found/,
  ],
])('%s: %s, of another region or name, is refused', async (way, uri, words) => {
  const custodian = await custodianOf(way, {}, uri);
  await expect(custodian.wrap(KEY)).rejects.toMatchObject({ away: false, message: expect.stringMatching(words) });
  await custodian.close();
});

const busy: Record<string, { status: number; body: object }> = {
  AWS: { status: 400, body: { __type: 'ThrottlingException', message: 'You have exceeded the rate' } },
  Google: { status: 429, body: { error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' } } },
  Azure: { status: 429, body: { error: { code: 'Throttled', message: 'Request was not processed' } } },
};
test.each(['AWS by the role of the instance', 'Google Cloud by the metadata server', 'Azure by workload identity'])(
  '%s: while the service has no time or is away the failure says so, and later the same request succeeds',
  async (way) => {
    const server = serverOf(way);
    const custodian = await custodianOf(way);
    const wrapped = await custodian.wrap(KEY);
    for (const state of [busy[way.split(' ')[0] ?? ''] ?? 'away', { status: 503, body: '' }, 'away'] as const) {
      await server.become(state);
      await expect(custodian.unwrap(wrapped)).rejects.toMatchObject({ away: true });
    }
    await server.become('up');
    expect(await custodian.unwrap(wrapped)).toEqual(KEY);
    await server.become({ status: 200, body: { Plaintext: 'no base64!', plaintext: 1, value: 'no base64!' } });
    await expect(custodian.unwrap(wrapped)).rejects.toThrow('in another form');
    await server.become('up');
    await custodian.close();
  },
);

test('bytes that changed on their way to Google or from it are refused', async () => {
  const custodian = await custodianOf('Google Cloud by the metadata server');
  const wrapped = await custodian.wrap(KEY);
  google.expected.changesBytes = true;
  try {
    await expect(custodian.wrap(KEY)).rejects.toThrow('checksum');
    await expect(custodian.unwrap(wrapped)).rejects.toThrow('checksum');
  } finally {
    google.expected.changesBytes = false;
    await custodian.close();
  }
});

test('after a rotation at Azure the setting names the new version, and keys of the earlier one are unwrapped by that', async () => {
  const way = 'Azure by workload identity';
  const before = await custodianOf(way);
  const wrapped = await before.wrap(KEY);
  const after = await custodianOf(way, {}, azure.uriOf(azure.addVersion()));
  expect(after.name).toBe(before.name);
  expect(await after.unwrap(wrapped)).toEqual(KEY);
  expect((await after.wrap(KEY)).toString().split('.')[0]).not.toBe(wrapped.toString().split('.')[0]);
  await expect(after.unwrap(Buffer.from('../../secrets/x.AAAA'))).rejects.toThrow('unknown form');
  await Promise.all([before.close(), after.close()]);
});

test.each<[string, Env, string]>([
  ['awskms://eu-central-1/', {}, 'SVC_KEY_CUSTODIAN'],
  ['awskms://eu-central-1/arn:aws:kms:us-east-1:111122223333:key/x', {}, 'us-east-1'],
  ['awskms://example.com/alias/x', {}, 'SVC_KEY_CUSTODIAN'],
  ['awskms://eu-central-1/alias/x', { AWS_ENDPOINT_URL_KMS: 'http://kms.example.com' }, 'AWS_ENDPOINT_URL_KMS'],
  [
    'awskms://eu-central-1/alias/x',
    { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://10.0.0.1/x' },
    'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  ],
  ['awskms://eu-central-1/alias/x', { AWS_ACCESS_KEY_ID: 'AKIA' }, 'AWS_SECRET_ACCESS_KEY'],
  ['awskms://eu-central-1/alias/x', { AWS_WEB_IDENTITY_TOKEN_FILE: '/x' }, 'AWS_ROLE_ARN'],
  ['awskms://eu-central-1/alias/x', { AWS_EC2_METADATA_DISABLED: 'true' }, 'no variable names credentials'],
  ['gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1', {}, 'without a version'],
  ['gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k', { GCE_METADATA_HOST: 'x/y' }, 'GCE_METADATA_HOST'],
  ['azurekeyvault://example.vault.azure.net/keys/realmkeeper', {}, 'SVC_KEY_CUSTODIAN'],
  ['azurekeyvault://vault.azure.net.example.com/keys/realmkeeper/1a', {}, 'SVC_KEY_CUSTODIAN'],
  [
    'azurekeyvault://example.vault.azure.net/keys/realmkeeper/1a',
    { AZURE_FEDERATED_TOKEN_FILE: '/x' },
    'AZURE_CLIENT_ID',
  ],
])('%s with %o is refused before anything is asked', async (uri, env, words) => {
  await expect(open(uri, env)).rejects.toThrow(words);
});

test('a scheme without a driver is a fault of the environment', () => {
  expect(() => parseConfig({ SVC_KEY_CUSTODIAN: 's3://x/y' })).toThrow(BadEnvironment);
});

test.each(['AWS by a web identity', 'Google Cloud by the metadata server', 'Azure by workload identity'])(
  '%s: a server starts, and after a restart opens what it sealed',
  async (way) => {
    const database = await createDatabase();
    const pool = openPool(database.url, { max: 2 });
    const found = ways[way]?.();
    const config = parseConfig({
      DATABASE_URL: 'postgres://nobody@127.0.0.1/nothing',
      SVC_KEY_CUSTODIAN: found?.uri,
      SVC_KEY_CUSTODIAN_WAIT_SECONDS: '0',
      ...found?.env,
    });
    const log = { info: () => {}, warn: () => {} };
    const start = () => openKeyring(config, { sql: sqlOver(pool), log, now });
    try {
      const first = await start();
      const sealed = createSeal(first.masterKey).seal('secret', 'x');
      await first.stop();
      const second = await start();
      expect(createSeal(second.masterKey).open(sealed, 'x').toString()).toBe('secret');
      expect(second.custody?.status()).toMatchObject({ keys: 1, fault: undefined });
      await second.stop();
      await serverOf(way).become('away');
      await expect(start()).rejects.toThrow(/SVC_KEY_CUSTODIAN: .* gives no data key/);
    } finally {
      await serverOf(way).become('up');
      await pool.end();
      await database.drop();
    }
  },
);
