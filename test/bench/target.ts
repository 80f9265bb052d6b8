// Owns: the server under test: the built bundle in a process of its own, on a PostgreSQL that syncs its writes, with a
// realm of clients and people.
// Does not own: what is measured on it (cases/).
// Implements: "client in PostgreSQL, audit and metrics on, durable".
import { createHash, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { hashRawSync } from '@node-rs/argon2';
import pg from 'pg';
import { DAY_MS } from '../../server/contract/durations.ts';
import { CIBA, TOKEN_EXCHANGE } from '../../server/contract/oauth.ts';
import { UMA_TICKET } from '../../server/contract/uma-grant.ts';
import { startPostgres } from '../../server/db/embedded.ts';
import { makeAuthority, makeCertificate, named } from '../support/certificates.ts';
import { benchFolder } from './folder.ts';
import { type Program, startProgram } from './processes.ts';
import type { BenchRealm } from './steps.ts';

const root = path.resolve(import.meta.dirname, '../..');
/** Of its own, so that a build beside it changes nothing under it; below node_modules, where native code is found. */
export const built: string = path.join(root, 'node_modules/.cache/realmkeeper-bench');
export const serverFile: string = path.join(built, 'server.js');

export interface Target {
  port: number;
  baseUrl: string;
  serverPid: number;
  postgresPid: number;
  databaseUrl: string;
  realm: BenchRealm;
  /** The environment that the server was started with. */
  env: Record<string, string>;
  /** A request to the admin API as the operator, who may do everything. */
  admin(path: string, init?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
}

const CLIENTS = 100;
const USERS = 200;

const CERTIFIED = 'jobs.example.com';
/** A client's certificate and the authority that issued it. */
async function certified(): Promise<BenchRealm['certified']> {
  const by = await makeAuthority();
  const { der } = await makeCertificate({
    by,
    extensions: [named('dns', CERTIFIED)],
    until: new Date(Date.now() + DAY_MS),
  });
  return { clientId: 'certified', name: CERTIFIED, der: der.toString('base64'), authority: by.pem };
}

export const newRealm = async ({ clients = CLIENTS, users = USERS } = {}): Promise<BenchRealm> => ({
  certified: await certified(),
  realm: 'bench',
  clients: Array.from({ length: clients }, (_, i) => `service-${String(i).padStart(3, '0')}`),
  secret: randomBytes(32).toString('base64url'),
  application: 'application',
  redirectUri: 'http://127.0.0.1/callback',
  partner: 'partner',
  bank: {
    clientId: 'bank',
    kid: 'bank',
    privateKey: generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }).privateKey,
  },
  serviceProvider: { entityId: 'https://wiki.example.com/saml', consumer: 'https://wiki.example.com/saml/acs' },
  guarded: { clientId: 'guarded', resource: 'album', action: 'use' },
  users: Array.from({ length: users }, (_, i) => `person-${i}`),
  password: 'seven quiet windows',
});

/** One hash for all of them: making two hundred would take a while, and checking is what is measured. */
function phcOf(password: string): string {
  const salt = randomBytes(16);
  const hash = hashRawSync(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32, salt });
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=19456,t=2,p=1$${text(salt)}$${text(hash)}`;
}

const POLICIES = 1000;

/** A thousand policies about one resource, of which the last permits it to all of the realm's people. */
function policiesFor({ guarded: { clientId, resource, action } }: BenchRealm): object {
  const names = Array.from({ length: POLICIES }, (_, n) => `tier-${n}`);
  const each = 100;
  return {
    clientId,
    scopes: [{ name: action }],
    resources: [{ name: resource, scopes: [action] }],
    policies: names.map((name) => ({ name, type: 'attribute', config: { attribute: 'tier', values: [name] } })),
    permissions: Array.from({ length: POLICIES / each }, (_, n) => ({
      name: `part-${n}`,
      resources: [resource],
      policies: names.slice(n * each, (n + 1) * each),
      decisionStrategy: 'affirmative',
    })),
    settings: { decisionStrategy: 'affirmative', accessApi: 'decisions' },
  };
}

/** Service clients, an application, and users with a password. */
export function peopleAndClientsOf({ clients, secret, application, redirectUri, users, password }: BenchRealm) {
  const phc = phcOf(password);
  return {
    clients: [
      ...clients.map((clientId) => ({ clientId, secret, grantTypes: ['client_credentials'] })),
      {
        clientId: application,
        tokenEndpointAuthMethod: 'none',
        redirectUris: [redirectUri],
        grantTypes: ['authorization_code', 'refresh_token'],
      },
    ],
    users: users.map((username) => ({
      username,
      email: `${username}@people.example`,
      firstName: 'Some',
      lastName: 'Body',
      credentials: [{ type: 'password', phc }],
    })),
  };
}

function documentOf(realm: BenchRealm): object {
  const { secret, partner, bank, serviceProvider, guarded, redirectUri, certified: shown } = realm;
  const { clients, users } = peopleAndClientsOf(realm);
  return {
    clients: [
      ...clients,
      {
        clientId: partner,
        secret,
        redirectUris: [redirectUri],
        grantTypes: ['authorization_code', 'refresh_token', TOKEN_EXCHANGE, UMA_TICKET, CIBA],
        // a token that is exchanged must outlive the case
        accessTokenTtlSeconds: 86_400,
      },
      {
        clientId: bank.clientId,
        profile: 'fapi2-security',
        tokenEndpointAuthMethod: 'private_key_jwt',
        jwks: { keys: [{ ...createPublicKey(bank.privateKey).export({ format: 'jwk' }), kid: bank.kid }] },
        redirectUris: [redirectUri],
        grantTypes: ['authorization_code', 'refresh_token'],
      },
      {
        clientId: shown.clientId,
        tokenEndpointAuthMethod: 'tls_client_auth',
        tlsClientAuthSanDns: shown.name,
        tlsClientAuthAuthorities: shown.authority,
        tlsClientCertificateBoundAccessTokens: true,
        grantTypes: ['client_credentials'],
      },
      { clientId: guarded.clientId, secret, grantTypes: ['client_credentials'] },
    ],
    samlClients: [
      {
        entityId: serviceProvider.entityId,
        assertionConsumerServices: [{ url: serviceProvider.consumer }],
        nameIdFormat: 'persistent',
        signResponses: false,
        mappers: [
          { name: 'mail', source: 'property', attribute: 'email' },
          { name: 'givenName', source: 'property', attribute: 'firstName' },
        ],
      },
    ],
    authorizationServices: [policiesFor(realm)],
    users: users.map((user) => ({ ...user, attributes: { tier: [`tier-${POLICIES - 1}`] } })),
  };
}

/**
 * @param nodeArgs for the server's process, such as `--cpu-prof`
 * @param more of its environment
 */
export async function startTarget(
  say: (line: string) => void,
  nodeArgs: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): Promise<Target> {
  const dir = await benchFolder();
  const postgres = await startPostgres({ dir: path.join(dir, 'postgres'), log: say });
  let server: Program | undefined;
  const stop = async () => {
    await server?.stop();
    await postgres.stop();
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const port = await freePort();
    const baseUrl = `http://localhost:${port}`;
    const operatorSecret = randomBytes(32).toString('base64url');
    const env = {
      ...serverEnvironment({ databaseUrl: postgres.url, port, baseUrl, operatorSecret }),
      SVC_CLIENT_CERT_HEADER: 'haproxy',
      SVC_CLIENT_CERT_PROXIES: 'loopback',
      ...more,
    };
    if (!existsSync(serverFile)) throw new Error(`${serverFile} is missing: run without --no-build`);
    server = await startProgram([...nodeArgs, serverFile], { env, ready: 'listens on' });
    const admin = await signedIn(baseUrl, operatorSecret);
    const realm = await newRealm();
    const answer = await admin(`/admin/realms/${realm.realm}/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(documentOf(realm)),
    });
    if (answer.status !== 200) throw new Error(`the bench's realm: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
    await analyze(postgres.url);
    return {
      port,
      baseUrl,
      serverPid: server.pid,
      postgresPid: postgres.pid,
      databaseUrl: postgres.url,
      realm,
      env,
      admin,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The environment of a server that the bench starts, with the memory settings of the image. */
export const serverEnvironment = ({
  databaseUrl,
  port,
  baseUrl,
  operatorSecret,
}: {
  databaseUrl: string;
  port: number;
  baseUrl: string;
  operatorSecret: string;
}) => ({
  NODE_ENV: 'production',
  NODE_OPTIONS: '--max-semi-space-size=16',
  MALLOC_ARENA_MAX: '2',
  DATABASE_URL: databaseUrl,
  SVC_MASTER_KEY: createHash('sha256').update('bench').digest('base64'),
  SVC_PORT: String(port),
  SVC_BASE_URL: baseUrl,
  SVC_LOG_LEVEL: 'warn',
  SVC_BOOTSTRAP_ADMIN_PASSWORD: randomBytes(16).toString('base64url'),
  SVC_OPERATOR_CLIENT_SECRET: operatorSecret,
});

/** What autovacuum does within a minute: until then plans rest on guesses. */
async function analyze(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('analyze realm_user, client, client_scope_link, credential');
  } finally {
    await client.end();
  }
}

/** By client credentials, as the operator does; the token outlives the bench. */
export async function signedIn(baseUrl: string, secret: string): Promise<Target['admin']> {
  const response = await fetch(`${baseUrl}/realms/master/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: `${baseUrl}/admin` }),
    headers: { authorization: `Basic ${Buffer.from(`operator:${secret}`).toString('base64')}` },
  });
  if (response.status !== 200) throw new Error(`the operator's token: ${response.status} ${await response.text()}`);
  const { access_token: token }: { access_token: string } = JSON.parse(await response.text());
  return (at, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fetch(baseUrl + at, { ...init, headers });
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
