// docs/applications.md as it stands: its document makes the realm, its programs run, and people and services get through.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { randomDPoPKeyPair } from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createUser } from '../../server/contract/users.ts';
import { PASSWORD } from '../support/applications.ts';
import { freePort } from '../support/free-port.ts';
import { createPerson } from '../support/person.ts';
import { asOperator, realmctl, withOperator } from '../support/realmctl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const root = path.resolve(import.meta.dirname, '../..');
const SECRETS = {
  SVC_VAR_WEB_SECRET: 'the-secret-of-the-web-0123456789',
  SVC_VAR_SERVICE_SECRET: 'the-secret-of-the-service-0123',
};
let server: TestServer;
let dir: string;
let ports: { web: number; api: number; mcp: number };
const running: ChildProcess[] = [];

/** The program of that name, as a file. Node finds the libraries from below the repository alone. */
async function written(name: string): Promise<string> {
  const text = await readFile(path.join(root, 'docs/applications.md'), 'utf8');
  const [, code = ''] = new RegExp(`\`\`\`js\\n// ${name}\\n([\\s\\S]*?)\`\`\``).exec(text) ?? [];
  expect(code).not.toBe('');
  const file = path.join(dir, name);
  await writeFile(file, code);
  return file;
}
async function program(name: string, env: Record<string, string>): Promise<ChildProcess> {
  const file = await written(name);
  const child = spawn(process.execPath, [file], {
    env: { PATH: process.env.PATH, ISSUER: `${issuerBase()}/realms/shop`, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.push(child);
  return child;
}
const issuerBase = () => server.baseUrl;
const saidBy = async (child: ChildProcess): Promise<string> => String((await once(child.stdout ?? child, 'data'))[0]);

beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
  dir = await mkdtemp(path.join(root, 'node_modules/.documented-'));
  ports = { web: await freePort(), api: await freePort(), mcp: await freePort() };
  const text = await readFile(path.join(root, 'docs/applications.md'), 'utf8');
  const [, document = ''] = /```yaml\n([\s\S]*?)```/.exec(text) ?? [];
  const stdin = document
    .replaceAll(':3000', `:${ports.web}`)
    .replaceAll(':4000', `:${ports.api}`)
    .replaceAll(':4100', `:${ports.mcp}`);
  const env = { ...asOperator(server), ...SECRETS };
  const applied = await realmctl(env, ['apply', '--realm', 'shop', '-f', '-', '--yes'], { stdin });
  expect(applied, applied.stderr).toMatchObject({ code: 0 });
  const body = { username: 'ana', email: 'ana@example.com', password: PASSWORD };
  await server.admin.call(createUser, { params: { realm: 'shop' }, body });
});
afterAll(async () => {
  for (const child of running) child.kill();
  await server?.stop();
  await rm(dir, { recursive: true, force: true });
});

test('a person signs in to the web application, and one without its cookie does not', async () => {
  const env = { CLIENT_ID: 'web', CLIENT_SECRET: SECRETS.SVC_VAR_WEB_SECRET, PORT: String(ports.web) };
  await saidBy(await program('web.mjs', env));
  const home = `http://localhost:${ports.web}`;
  const begun = await fetch(home, { redirect: 'manual' });
  const to = new URL(begun.headers.get('location') ?? '');
  const ana = createPerson(server.baseUrl);
  const form = await ana.open(to.pathname + to.search);
  const { url } = await ana.fill(form, { username: 'ana', password: PASSWORD });
  expect(url).toMatch(`${home}/callback?`);
  const cookie = (begun.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
  expect((await fetch(url)).status).toBe(400);
  const signedIn = await fetch(url, { headers: { cookie } });
  expect([signedIn.status, await signedIn.text()]).toEqual([200, 'Hello ana\n']);
});

test('the service gets through to the API, and nobody else does', async () => {
  const API = `http://localhost:${ports.api}`;
  await saidBy(await program('api.mjs', { API }));
  const env = { CLIENT_ID: 'service', CLIENT_SECRET: SECRETS.SVC_VAR_SERVICE_SECRET, API };
  expect(await saidBy(await program('service.mjs', env))).toBe('200 orders for service\n\n');
  expect((await fetch(`${API}/orders`)).status).toBe(401);
  const token = await fetch(`${server.baseUrl}/realms/shop/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`service:${SECRETS.SVC_VAR_SERVICE_SECRET}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token: foreign } = z.object({ access_token: z.string() }).parse(await token.json());
  const authorization = `Bearer ${foreign}`;
  expect((await fetch(`${API}/orders`, { headers: { authorization } })).status).toBe(401);
});

test('a person signs in to the single page, which keeps what it needs for one sign-in', async () => {
  const page = await import(await written('page.mjs'));
  const store = new Map<string, string>();
  const kept = {
    getItem: (name: string) => store.get(name) ?? null,
    setItem: (name: string, value: string) => store.set(name, value),
    removeItem: (name: string) => store.delete(name),
  };
  const of = { issuer: `${server.baseUrl}/realms/shop`, clientId: 'page', home: 'http://localhost:5173' };
  const to: URL = await page.begin(of, kept);
  const ana = createPerson(server.baseUrl);
  const { url } = await ana.fill(await ana.open(to.pathname + to.search), { username: 'ana', password: PASSWORD });
  const tokens = await page.finish(of, new URL(url), kept);
  expect(tokens.claims().aud).toBe('page');
  expect(store.size).toBe(0);
  const endpoint = `${server.baseUrl}/realms/shop/oauth2/token`;
  const asked = { origin: of.home, 'access-control-request-method': 'POST' };
  const preflight = await fetch(endpoint, { method: 'OPTIONS', headers: asked });
  expect(preflight.headers.get('access-control-allow-origin')).toBe(of.home);
});

test('a person signs in to the app on a phone, whose refresh token is of no use without its key', async () => {
  const phone = await import(await written('phone.mjs'));
  const of = { issuer: `${server.baseUrl}/realms/shop`, clientId: 'phone' };
  const app = await phone.start({ ...of, keyPair: await randomDPoPKeyPair('ES256') });
  const ana = createPerson(server.baseUrl);
  const form = await ana.open(app.url.pathname + app.url.search);
  const { url } = await ana.fill(form, { username: 'ana', password: PASSWORD });
  expect(url).toMatch(/^com\.example\.shop:\/callback\?/);
  const tokens = await app.finish(url);
  expect([tokens.token_type, tokens.claims().aud]).toEqual(['dpop', 'phone']);
  const thief = await phone.start({ ...of, keyPair: await randomDPoPKeyPair('ES256') });
  const { refresh_token: next } = await app.refresh(tokens.refresh_token);
  expect(next).not.toBe(tokens.refresh_token);
  await expect(thief.refresh(next)).rejects.toMatchObject({ error: expect.stringMatching(/^invalid_/) });
});

test('a person connects the command line by its code', async () => {
  const tool = await program('tool.mjs', { CLIENT_ID: 'tool' });
  const said = await saidBy(tool);
  const [, address = '', code = ''] = /^Open (\S+) and type (\S+)\n/.exec(said) ?? [];
  const ana = createPerson(server.baseUrl);
  const { pathname } = new URL(address);
  const form = await ana.fill(await ana.open(pathname), { username: 'ana', password: PASSWORD });
  const asked = await ana.post(pathname, { ...form.fields, user_code: code });
  const signedIn = saidBy(tool);
  await ana.post(`${pathname}/decision`, { ...asked.fields, decision: 'allow' });
  expect(await signedIn).toMatch(/^signed in as [\w-]{36}\n$/);
});

test('the MCP server says where its authorization server is, and takes tokens for itself alone', async () => {
  const API = `http://localhost:${ports.mcp}/mcp`;
  await saidBy(await program('mcp.mjs', { API }));
  const refused = await fetch(API);
  expect(refused.status).toBe(401);
  const at = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '')?.[1] ?? '';
  const issuer = `${server.baseUrl}/realms/shop`;
  expect(await (await fetch(at)).json()).toMatchObject({ resource: API, authorization_servers: [issuer] });
  const token = async (resource?: string) => {
    const [state, verifier] = ['state', 'v'.repeat(43)];
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const home = `http://localhost:${ports.web}/callback`;
    const query = {
      ...{ client_id: 'web', response_type: 'code', redirect_uri: home, scope: 'openid', state },
      ...{ code_challenge: challenge, code_challenge_method: 'S256', ...(resource !== undefined && { resource }) },
    };
    const ana = createPerson(server.baseUrl);
    const page = await ana.open(`/realms/shop/oauth2/authorize?${new URLSearchParams(query)}`);
    const { url } = await ana.fill(page, { username: 'ana', password: PASSWORD });
    const code = new URL(url).searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, redirect_uri: home, code_verifier: verifier };
    const answer = await fetch(`${issuer}/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`web:${SECRETS.SVC_VAR_WEB_SECRET}`)}` },
      body: new URLSearchParams(form),
    });
    return z.object({ access_token: z.string() }).parse(await answer.json()).access_token;
  };
  const ask = async (bearer: string) => fetch(API, { headers: { authorization: `Bearer ${bearer}` } });
  expect(await (await ask(await token(API))).text()).toMatch(/^tools for [\w-]{36}\n$/);
  expect((await ask(await token())).status).toBe(401);
});
