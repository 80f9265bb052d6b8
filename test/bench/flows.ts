// What the load generator's connections do, again and again: a flow prepares a connection and gives the step to repeat.
// They speak plain HTTP as an application or a browser does; nothing of the server's code is used.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, randomUUID, sign } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { get, post, type Wire, type WireAnswer } from './wire.ts';

/** What the bench's realm has; made by target.ts. */
export interface BenchRealm {
  realm: string;
  /** Clients of the client_credentials grant, all with the same secret. */
  clients: string[];
  secret: string;
  /** The public client that people sign in to. */
  application: string;
  redirectUri: string;
  /** A confidential client of the same people: it pushes its requests, exchanges tokens, and asks what is permitted. */
  partner: string;
  /** A SAML service provider that the same people sign on to; it wants assertions signed, and nothing else. */
  serviceProvider: { entityId: string; consumer: string };
  /** The resource server whose policies decide, and the resource. */
  guarded: { clientId: string; resource: string };
  /** People, all with the same password. */
  users: string[];
  password: string;
}

export type FlowName =
  | 'get'
  | 'client-credentials'
  | 'refresh'
  | 'code'
  | 'login'
  | 'dpop'
  | 'par'
  | 'exchange'
  | 'decision'
  | 'saml'
  | 'scim-create'
  | 'scim-find';
export interface FlowOptions {
  realm: BenchRealm;
  /** For `get`. */
  path?: string;
  /** For `dpop`: what proofs name. */
  baseUrl?: string;
  /** For SCIM: a realm of people named by {@link provisionedName}, and a token for its SCIM server. */
  scim?: { realm: string; token: string; people: number };
}

/** `false`: there is nothing left to do (used up), so the window ends. An answer that isn't good throws. */
type Step = () => Promise<boolean>;
export interface Stepping {
  step: Step;
  /** Before a window: makes what its steps use up. */
  stock?(count: number): Promise<void>;
}
/** Where answers say nothing but their status: the ready requests to repeat. */
export interface Repeating {
  ready(): string;
}
export type Prepared = Stepping | Repeating;
type Flow = (wire: Wire, index: number, options: FlowOptions) => Promise<Prepared>;

function expectStatus(answer: WireAnswer, status: number): WireAnswer {
  if (answer.status === status) return answer;
  throw new Error(`expected ${status}: ${answer.head}\n\n${answer.body.slice(0, 500)}`);
}

const plainGet: Flow = async (_wire, _index, { path = '/' }) => {
  const request = get(path);
  return { ready: () => request };
};

const clientCredentials: Flow = async (_wire, index, { realm: { realm, clients, secret } }) => {
  const requests = clients.map((client) =>
    post(
      `/realms/${realm}/oauth2/token`,
      { grant_type: 'client_credentials' },
      { authorization: `Basic ${Buffer.from(`${client}:${secret}`).toString('base64')}` },
    ),
  );
  let next = index;
  return { ready: () => requests[next++ % requests.length] ?? '' };
};

const SET_COOKIE = '\r\nset-cookie: ';
const LOCATION = '\r\nlocation: ';
const lineAt = (head: string, from: number): string => {
  const end = head.indexOf('\r\n', from);
  return head.slice(from, end < 0 ? undefined : end);
};

/** Cookies as a browser keeps them, without paths: each jar sees one realm. Headers are as our server writes them. */
class Jar extends Map<string, string> {
  take({ head }: WireAnswer): void {
    for (let at = head.indexOf(SET_COOKIE); at >= 0; at = head.indexOf(SET_COOKIE, at + 1)) {
      const line = lineAt(head, at + SET_COOKIE.length);
      const [equals, end] = [line.indexOf('='), line.indexOf(';')];
      const name = line.slice(0, equals);
      if (/max-age=0(;|$)|expires=Thu, 01 Jan 1970/i.test(line.slice(end))) this.delete(name);
      else this.set(name, line.slice(equals + 1, end < 0 ? undefined : end));
    }
  }
  get header(): Record<string, string> {
    if (this.size === 0) return {};
    let cookie = '';
    for (const [name, value] of this) cookie += `${cookie === '' ? '' : '; '}${name}=${value}`;
    return { cookie };
  }
}

function locationOf({ head }: WireAnswer): string {
  const at = head.indexOf(LOCATION);
  return at < 0 ? '' : lineAt(head, at + LOCATION.length);
}
/** The path of a link to this server. */
function pathOf(answer: WireAnswer): string {
  const location = locationOf(answer);
  return location.startsWith('/') ? location : location.slice(location.indexOf('/', location.indexOf('//') + 2));
}
const HIDDEN = '<input type="hidden" ';
const attributeOf = (tag: string, name: string): string => {
  const at = tag.indexOf(` ${name}="`);
  return at < 0 ? '' : tag.slice(at + name.length + 3, tag.indexOf('"', at + name.length + 3));
};
function fieldsOf(page: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let at = page.indexOf(HIDDEN); at >= 0; at = page.indexOf(HIDDEN, at + 1)) {
    const tag = page.slice(at, page.indexOf('>', at));
    fields[attributeOf(tag, 'name')] = attributeOf(tag, 'value');
  }
  return fields;
}

interface Asked {
  path: string;
  verifier: string;
  challenge: string;
}

/** Made beforehand, so that the load generator's own work stays small beside what is measured. */
const requests: Asked[] = [];
let turn = 0;
function authorization({ realm, application, redirectUri }: BenchRealm): Asked {
  while (requests.length < 256) {
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const query = new URLSearchParams({
      client_id: application,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'openid offline_access',
      state: 'bench',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    requests.push({ path: `/realms/${realm}/oauth2/authorize?${query}`, verifier, challenge });
  }
  const asked = requests[turn++ % requests.length];
  if (!asked) throw new Error('no request was made');
  return asked;
}

const codeIn = (answer: WireAnswer): string => {
  const location = locationOf(expectStatus(answer, 303));
  const code = /[?&]code=([^&]+)/.exec(location)?.[1];
  if (code === undefined) throw new Error(`no code: ${location}`);
  return code;
};

/** From the application's link through the sign-in page back to the application: three requests, one password. */
async function signIn(wire: Wire, jar: Jar, options: BenchRealm, username: string): Promise<Asked & { code: string }> {
  const asked = authorization(options);
  const visit = async (request: string) => {
    const answer = await wire.send(request);
    jar.take(answer);
    return answer;
  };
  const page = pathOf(await visit(get(asked.path, jar.header)));
  const shown = expectStatus(await visit(get(page, jar.header)), 200);
  const form = { ...fieldsOf(shown.body), do: 'next', username, password: options.password };
  return { ...asked, code: codeIn(await visit(post(page, form, jar.header))) };
}

const redemption = (
  { realm, application, redirectUri }: BenchRealm,
  { code, verifier }: { code: string; verifier: string },
) =>
  post(`/realms/${realm}/oauth2/token`, {
    grant_type: 'authorization_code',
    client_id: application,
    redirect_uri: redirectUri,
    code,
    code_verifier: verifier,
  });

const userOf = ({ users }: BenchRealm, n: number): string => users[n % users.length] ?? '';

const refresh: Flow = async (wire, index, { realm: options }) => {
  const { realm, application } = options;
  const given = await signIn(wire, new Jar(), options, userOf(options, index));
  let answer = expectStatus(await wire.send(redemption(options, given)), 200);
  return {
    async step() {
      const token: string = JSON.parse(answer.body).refresh_token;
      const form = { grant_type: 'refresh_token', client_id: application, refresh_token: token };
      answer = expectStatus(await wire.send(post(`/realms/${realm}/oauth2/token`, form)), 200);
      return true;
    },
  };
};

const code: Flow = async (wire, index, { realm: options }) => {
  const jar = new Jar();
  await signIn(wire, jar, options, userOf(options, index));
  const codes: string[] = [];
  return {
    async stock(count) {
      codes.length = 0;
      for (let i = 0; i < count; i += 1) {
        const asked = authorization(options);
        codes.push(redemption(options, { ...asked, code: codeIn(await wire.send(get(asked.path, jar.header))) }));
      }
    },
    async step() {
      const request = codes.pop();
      if (request === undefined) return false;
      expectStatus(await wire.send(request), 200);
      return true;
    },
  };
};

const login: Flow = async (wire, index, { realm: options }) => {
  let n = index;
  return {
    async step() {
      n += 17;
      await signIn(wire, new Jar(), options, userOf(options, n));
      return true;
    },
  };
};

const basic = (client: string, secret: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${client}:${secret}`).toString('base64')}`,
});
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** RFC 9449: each proof is used once, so they are made beforehand. */
function proofs(htu: string): () => string {
  const { privateKey, publicKey }: { privateKey: KeyObject; publicKey: KeyObject } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
  });
  const head = encoded({ typ: 'dpop+jwt', alg: 'ES256', jwk: publicKey.export({ format: 'jwk' }) });
  return () => {
    const iat = Math.floor(Date.now() / 1000);
    const said = `${head}.${encoded({ htm: 'POST', htu, jti: randomUUID(), iat })}`;
    const signature = sign('sha256', Buffer.from(said), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${said}.${signature.toString('base64url')}`;
  };
}

const dpop: Flow = async (wire, index, { realm: { realm, clients, secret }, baseUrl = '' }) => {
  const path = `/realms/${realm}/oauth2/token`;
  const proof = proofs(baseUrl + path);
  const client = clients[index % clients.length] ?? '';
  const stocked: string[] = [];
  return {
    async stock(count) {
      stocked.length = 0;
      const headers = basic(client, secret);
      for (let i = 0; i < count; i += 1)
        stocked.push(post(path, { grant_type: 'client_credentials' }, { ...headers, dpop: proof() }));
    },
    async step() {
      const request = stocked.pop();
      if (request === undefined) return false;
      expectStatus(await wire.send(request), 200);
      return true;
    },
  };
};

/** From the partner's pushed request to its code, by the session of the browser. */
async function pushedCode(wire: Wire, jar: Jar, options: BenchRealm): Promise<{ code: string; verifier: string }> {
  const { realm, partner, secret, redirectUri } = options;
  const { verifier, challenge } = authorization(options);
  const asked = {
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid offline_access',
    state: 'bench',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  };
  const pushed = await wire.send(post(`/realms/${realm}/oauth2/par`, asked, basic(partner, secret)));
  const { request_uri: uri }: { request_uri: string } = JSON.parse(expectStatus(pushed, 201).body);
  const query = new URLSearchParams({ client_id: partner, request_uri: uri });
  return { code: codeIn(await wire.send(get(`/realms/${realm}/oauth2/authorize?${query}`, jar.header))), verifier };
}
const partnersRedemption = (
  { realm, partner, secret, redirectUri }: BenchRealm,
  { code, verifier }: { code: string; verifier: string },
) =>
  post(
    `/realms/${realm}/oauth2/token`,
    { grant_type: 'authorization_code', redirect_uri: redirectUri, code, code_verifier: verifier },
    basic(partner, secret),
  );

const par: Flow = async (wire, index, { realm: options }) => {
  const jar = new Jar();
  await signIn(wire, jar, options, userOf(options, index));
  return {
    async step() {
      const request = partnersRedemption(options, await pushedCode(wire, jar, options));
      expectStatus(await wire.send(request), 200);
      return true;
    },
  };
};

/** An access token of a person that the partner got. */
async function partnersToken(wire: Wire, index: number, options: BenchRealm): Promise<string> {
  const jar = new Jar();
  await signIn(wire, jar, options, userOf(options, index));
  const answer = await wire.send(partnersRedemption(options, await pushedCode(wire, jar, options)));
  return JSON.parse(expectStatus(answer, 200).body).access_token;
}

const exchange: Flow = async (wire, index, { realm: options }) => {
  const { realm, partner, secret } = options;
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: await partnersToken(wire, index, options),
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  };
  const request = post(`/realms/${realm}/oauth2/token`, form, basic(partner, secret));
  return { ready: () => request };
};

const decision: Flow = async (wire, index, { realm: options }) => {
  const { realm, partner, secret, guarded } = options;
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:uma-ticket',
    claim_token: await partnersToken(wire, index, options),
    audience: guarded.clientId,
    permission: guarded.resource,
    response_mode: 'decision',
  };
  const request = post(`/realms/${realm}/oauth2/token`, form, basic(partner, secret));
  return { ready: () => request };
};

/** What a service provider's library sends by Redirect: unsigned, each with an id of its own. */
function signOnRequest({ realm, serviceProvider: { entityId, consumer } }: BenchRealm): string {
  const names = 'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"';
  const head = `ID="_${randomBytes(20).toString('hex')}" Version="2.0" IssueInstant="${new Date().toISOString()}"`;
  const xml = `<samlp:AuthnRequest ${names} ${head} AssertionConsumerServiceURL="${consumer}"><saml:Issuer>${entityId}</saml:Issuer></samlp:AuthnRequest>`;
  const query = new URLSearchParams({ SAMLRequest: deflateRawSync(xml).toString('base64'), RelayState: 'bench' });
  return `/realms/${realm}/saml/idp/sso?${query}`;
}

const saml: Flow = async (wire, index, { realm: options }) => {
  const jar = new Jar();
  await signIn(wire, jar, options, userOf(options, index));
  const stocked: string[] = [];
  return {
    async stock(count) {
      stocked.length = 0;
      for (let i = 0; i < count; i += 1) stocked.push(get(signOnRequest(options), jar.header));
    },
    async step() {
      const request = stocked.pop();
      if (request === undefined) return false;
      const { body } = expectStatus(await wire.send(request), 200);
      if (!body.includes('name="SAMLResponse"')) throw new Error(`no response: ${body.slice(0, 500)}`);
      return true;
    },
  };
};

export const provisionedName = (i: number): string => `user-${String(i).padStart(7, '0')}`;

const json = (path: string, body: object, headers: Record<string, string>): string => {
  const text = JSON.stringify(body);
  const lines = { ...headers, 'content-type': 'application/scim+json', 'content-length': String(text.length) };
  return get(path, lines).replace(/^GET/, 'POST') + text;
};

/** As Entra provisions somebody, who hasn't been there. */
const scimCreate: Flow = async (wire, index, { scim }) => {
  const headers = { authorization: `Bearer ${scim?.token}` };
  const prefix = `${Date.now().toString(36)}-${index}`;
  let n = 0;
  return {
    async step() {
      n += 1;
      const name = `new-${prefix}-${n}`;
      const body = {
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        externalId: `external-${prefix}-${n}`,
        userName: name,
        active: true,
        name: { givenName: 'Some', familyName: 'Body' },
        emails: [{ type: 'work', value: `${name}@people.example`, primary: true }],
      };
      expectStatus(await wire.send(json(`/realms/${scim?.realm}/scim/v2/Users`, body, headers)), 201);
      return true;
    },
  };
};

/** As whoever provisions looks whether somebody is there. */
const scimFind: Flow = async (_, index, { scim }) => {
  const headers = { authorization: `Bearer ${scim?.token}` };
  let n = index * 7919;
  return {
    ready() {
      n = (n + 104_729) % (scim?.people ?? 1);
      const query = new URLSearchParams({ filter: `userName eq "${provisionedName(n)}"` });
      return get(`/realms/${scim?.realm}/scim/v2/Users?${query}`, headers);
    },
  };
};

export const flows: Record<FlowName, Flow> = {
  get: plainGet,
  'client-credentials': clientCredentials,
  refresh,
  code,
  login,
  dpop,
  par,
  exchange,
  decision,
  saml,
  'scim-create': scimCreate,
  'scim-find': scimFind,
};
