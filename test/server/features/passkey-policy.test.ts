// Which authenticators a realm accepts for new passkeys, what their attestation proves, and what FIDO's metadata changes.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { listEvents } from '../../../server/contract/events.ts';
import { putFlow } from '../../../server/contract/flows.ts';
import { putSettings, type SettingsInput } from '../../../server/contract/settings.ts';
import { listCredentials } from '../../../server/contract/users.ts';
import {
  type AuthenticatorMetadataDeps,
  authenticatorMetadataJob,
} from '../../../server/features/people/credentials/metadata-job.ts';
import { createOutbound } from '../../../server/http/outbound.ts';
import { createAccountCaller } from '../../support/account-api.ts';
import type { Made } from '../../support/certificates.ts';
import {
  androidCertificates,
  authority,
  createMaker,
  type Listed,
  type Maker,
  metadataBlob,
} from '../../support/fido-metadata.ts';
import { type Asking, startAsking } from '../../support/messages.ts';
import { createPerson } from '../../support/person.ts';
import { startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { answerByPasskey, createSoftPasskey, type Make } from '../../support/soft-passkey.ts';

let server: TestServer;
let asking: Asking;
let folder: string;
let signer: Made;
let known: Maker;
let other: Maker;
let realm = '';
let userId = '';
let account: ReturnType<typeof createAccountCaller>;
let made = 0;
let documents = 0;
let people = 0;
const logged: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'fido-'));
  const root = await authority('CN=Root of metadata');
  signer = { ...(await authority('CN=Metadata', root)) };
  known = await createMaker('00000000-0000-4000-8000-00000000a001');
  other = await createMaker('00000000-0000-4000-8000-00000000a002');
  await writeFile(path.join(folder, 'root.pem'), root.pem);
  server = await startTestServer({ jobs: false });
  asking = startAsking(server);
});
afterAll(async () => {
  await asking?.stop();
  await server?.stop();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  made += 1;
  realm = `made${made}`;
  account = createAccountCaller(server, realm);
  userId = await account.make();
  await server.pool.query('delete from authenticator_metadata');
  logged.length = 0;
});

const set = (body: SettingsInput) => server.admin.call(putSettings, { params: { realm }, body });
/** Runs the job on a document. */
async function publish(listed: readonly Listed[], { number, by = signer }: { number?: number; by?: Made } = {}) {
  documents += 1;
  const file = path.join(folder, 'blob.jwt');
  await writeFile(file, await metadataBlob(listed, { number: number ?? documents, signer: by }));
  const none = { fetch: () => Promise.reject(new Error('the file is enough')) };
  await runJob({ SVC_FIDO_METADATA_FILE: file, SVC_FIDO_METADATA_ROOT_FILE: rootFile() }, none);
}
async function runJob(config: AuthenticatorMetadataDeps['config'], outbound: AuthenticatorMetadataDeps['outbound']) {
  const log = (_: unknown, words?: string) => void logged.push(words ?? '');
  const deps = { ...asking.with, outbound, config, now: () => new Date(), log: { error: log, warn: log } };
  await authenticatorMetadataJob(deps).run({}, { signal: new AbortController().signal });
}
const rootFile = () => path.join(folder, 'root.pem');
const names = async () =>
  (await server.pool.query(`select entry ->> 'description' as name from authenticator_metadata`)).rows.map(
    ({ name }) => name,
  );
/** @param username of another user: a user with a passkey would have to prove it first */
async function setUp(make?: Make, username = 'ada') {
  const key = createSoftPasskey(new URL(server.baseUrl).origin, { ...(make && { make }) });
  if (username !== 'ada') await account.make({ username });
  const me = await account.byToken({}, username);
  const { ticket, publicKey } = Object((await me('POST', 'credentials/webauthn/start')).body);
  const answer = await me('POST', 'credentials/webauthn', { ticket, response: key.create(publicKey) });
  return {
    key,
    options: publicKey,
    handle: publicKey.user.id,
    status: answer.status,
    body: JSON.stringify(answer.body),
  };
}
const passkeys = async () =>
  ((await server.admin.call(listCredentials, { params: { realm, userId } })).body ?? []).filter(
    ({ type }) => type === 'webauthn',
  );
const events = async (type: 'PASSKEY_REFUSED' | 'AUTHENTICATOR_COMPROMISED' | 'LOGIN_FAILURE') =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type } })).body?.map(({ data }) => data) ?? [];

test('a fresh realm asks for no attestation and accepts any authenticator, also a synced one', async () => {
  const { options, status } = await setUp({ synced: true });
  expect([options.attestation, options.hints, status]).toEqual(['none', undefined, 201]);
  const [key] = await passkeys();
  expect(key).toMatchObject({ backedUp: true, deviceBound: false, authenticator: { name: null, proven: false } });
});

test('direct attestation accepts an authenticator whose certificate leads to the root in FIDO’s metadata', async () => {
  await publish([{ maker: known, description: 'SoftKey 5' }]);
  await set({ passkeyAttestation: 'direct', passkeyHints: ['security-key', 'hybrid'] });
  const { options, status } = await setUp(await known.make());
  expect([options.attestation, options.hints, status]).toEqual(['direct', ['security-key', 'hybrid'], 201]);
  expect(options.authenticatorSelection).toMatchObject({ authenticatorAttachment: 'cross-platform' });
  const [key] = await passkeys();
  const authenticator = { aaguid: known.aaguid, name: 'SoftKey 5', proven: true, statuses: [] };
  expect(key).toMatchObject({ deviceBound: true, authenticator });
});

test('direct attestation refuses none, self attestation, a stranger’s certificate, and another maker’s AAGUID', async () => {
  await publish([{ maker: known }]);
  await set({ passkeyAttestation: 'direct' });
  const borrowed = { ...(await other.make()), aaguid: known.aaguid };
  const stranger = await known.make(await authority(known.root.subject));
  const makes: (Make | undefined)[] = [
    undefined,
    { aaguid: known.aaguid, packed: { certificates: [] } },
    stranger,
    await other.make(),
    borrowed,
  ];
  const answers: string[] = [];
  for (const make of makes) {
    const { status, body } = await setUp(make);
    answers.push(`${status} ${/\((.+?)\)/.exec(body)?.[1] ?? 'invalid'}`);
  }
  expect(answers).toEqual([
    '400 attestation-missing',
    '400 attestation-missing',
    '400 attestation-unproven',
    '400 attestation-unproven',
    // The certificate itself names another model.
    '400 invalid',
  ]);
  expect(await passkeys()).toEqual([]);
});

test('lists of models, the lowest certification and refused statuses are kept to', async () => {
  await publish([{ maker: known, statuses: ['FIDO_CERTIFIED_L1', 'FIDO_CERTIFIED_L2'] }, { maker: other }]);
  const reasonFor = async (maker: Maker, settings: SettingsInput) => {
    await set({
      passkeyAttestation: 'direct',
      passkeyAllowedAuthenticators: [],
      passkeyDeniedAuthenticators: [],
      ...settings,
    });
    people += 1;
    const { status, body } = await setUp(await maker.make(), `user${people}`);
    return status === 201 ? 'accepted' : /\((.+?)\)/.exec(body)?.[1];
  };
  expect(await reasonFor(other, { passkeyAllowedAuthenticators: [known.aaguid] })).toBe('authenticator-not-allowed');
  expect(await reasonFor(known, { passkeyDeniedAuthenticators: [known.aaguid] })).toBe('authenticator-denied');
  expect(await reasonFor(other, { passkeyMinimumCertification: 'L2' })).toBe('authenticator-uncertified');
  expect(await reasonFor(known, { passkeyMinimumCertification: 'L2' })).toBe('accepted');
  await publish([{ maker: known, statuses: ['FIDO_CERTIFIED_L2', 'REVOKED'] }, { maker: other }]);
  expect(await reasonFor(known, {})).toBe('status-REVOKED');
  expect(await reasonFor(known, { passkeyRefusedStatuses: [], passkeyMinimumCertification: null })).toBe('accepted');
});

test('a realm accepts only device-bound or only synced passkeys', async () => {
  await set({ passkeyBinding: 'device-bound' });
  expect((await setUp({ synced: true })).body).toContain('(synced)');
  expect((await setUp(undefined, 'bob')).status).toBe(201);
  await set({ passkeyBinding: 'synced' });
  expect((await setUp()).body).toContain('(device-bound)');
  expect((await setUp({ synced: true })).status).toBe(201);
});

test('a passkey whose authenticator is reported is noted once, and refused at sign-in if the realm wants that', async () => {
  await publish([{ maker: known, description: 'SoftKey 5' }]);
  const { key, handle } = await setUp(await known.make());
  await publish([{ maker: known, description: 'SoftKey 5', statuses: ['USER_KEY_REMOTE_COMPROMISE'] }]);
  await publish([{ maker: known, description: 'SoftKey 5', statuses: ['USER_KEY_REMOTE_COMPROMISE'] }]);
  const statuses = ['USER_KEY_REMOTE_COMPROMISE'];
  expect(await events('AUTHENTICATOR_COMPROMISED')).toMatchObject([{ authenticator: 'SoftKey 5', statuses }]);
  expect(await passkeys()).toMatchObject([{ authenticator: { statuses } }]);
  const signIn = async () => {
    const person = createPerson(server.baseUrl);
    const page = await person.open(`/realms/${realm}/login?for=account`);
    return (await person.fill(page, answerByPasskey(key, page, handle))).url;
  };
  const executions = [
    { authenticatorId: 'username-password', requirement: 'ALTERNATIVE' as const },
    { authenticatorId: 'webauthn', requirement: 'ALTERNATIVE' as const },
  ];
  await server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
  expect(await signIn()).toContain('/account');
  await set({ passkeyRefusedAtSignIn: true });
  expect(await signIn()).not.toContain('/account');
  expect(await events('LOGIN_FAILURE')).toMatchObject([{ reason: 'passkey-compromised' }]);
  // The report was withdrawn.
  await publish([{ maker: known, description: 'SoftKey 5' }]);
  expect(await signIn()).toContain('/account');
});

test('an attestation of Android from an unknown root makes the server ask no address that it names', async () => {
  const asked: string[] = [];
  const site = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  try {
    const key = createSoftPasskey(new URL(server.baseUrl).origin);
    const me = await account.byToken();
    const { ticket, publicKey } = Object((await me('POST', 'credentials/webauthn/start')).body);
    const { port } = z.object({ port: z.number() }).parse(site.address());
    const crl = `http://127.0.0.1:${port}/list.crl`;
    const certificates = await androidCertificates(key.keys, key.clientDataFor(publicKey), crl);
    const response = key.create(publicKey, certificates);
    const { status } = await me('POST', 'credentials/webauthn', { ticket, response });
    expect(asked).toEqual([]);
    expect(status).toBe(400);
  } finally {
    site.close();
  }
});

test('the document is fetched through the guard of outbound requests, and a failure leaves the stored one', async () => {
  const receiver = await startReceiver();
  const guarded = createOutbound({ caFile: receiver.caFile });
  const allowed = createOutbound({ caFile: receiver.caFile, allow: ['127.0.0.1'] });
  try {
    documents += 1;
    const blob = await metadataBlob([{ maker: known, description: 'SoftKey 5' }], { number: documents, signer });
    receiver.answer = () => ({ body: blob });
    const from = { SVC_FIDO_METADATA_URL: `${receiver.url}/blob`, SVC_FIDO_METADATA_ROOT_FILE: rootFile() };
    await runJob(from, guarded);
    expect(logged.at(-1)).toContain('was not refreshed');
    expect(await names()).toEqual([]);
    await runJob(from, allowed);
    expect(await names()).toEqual(['SoftKey 5']);
    receiver.answer = () => ({ status: 500, body: '' });
    await runJob(from, allowed);
    expect(logged.at(-1)).toContain('answered 500');
    expect(await names()).toEqual(['SoftKey 5']);
  } finally {
    await guarded.close();
    await allowed.close();
    await receiver.stop();
  }
});

test('a document that is older, unsigned by the root, or changed is not taken', async () => {
  await publish([{ maker: known, statuses: ['REVOKED'] }]);
  const stored = async () => (await server.pool.query('select aaguid, entry from authenticator_metadata')).rows;
  const before = await stored();
  expect(before).toMatchObject([{ aaguid: known.aaguid, entry: { statuses: ['REVOKED'] } }]);
  await publish([{ maker: known }], { number: documents - 1 });
  expect(await stored()).toEqual(before);
  await publish([{ maker: known }], { by: await authority('CN=Metadata') });
  expect(logged.at(-1)).toContain('lead to no trusted root');
  await publish([{ maker: known }], { by: { ...signer, privateKey: (await authority('CN=Other')).privateKey } });
  expect(logged.at(-1)).toContain('signature');
  expect(await stored()).toEqual(before);
});
