// What the load generator's connections do, again and again: a flow prepares a connection and gives the step to repeat.
// They speak plain HTTP as an application or a browser does; nothing of the server's code is used.
import { createPrivateKey, randomBytes, randomUUID } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import {
  authorization,
  type BenchRealm,
  basic,
  codeIn,
  expectStatus,
  type Flow,
  Jar,
  nonceIn,
  proofKeys,
  proofs,
  signed,
  signIn,
  userOf,
} from './steps.ts';
import { get, post, postJson, type Wire, type WireAnswer } from './wire.ts';

export type FlowName =
  | 'get'
  | 'client-credentials'
  | 'refresh'
  | 'code'
  | 'login'
  | 'dpop'
  | 'mtls'
  | 'par'
  | 'fapi2'
  | 'exchange'
  | 'decision'
  | 'evaluation'
  | 'backchannel'
  | 'saml'
  | 'scim-create'
  | 'scim-find';

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

/** The certificate comes as a proxy forwards it, so that the handshake of TLS is the proxy's. */
const mtls: Flow = async (_wire, _index, { realm: { realm, certified } }) => {
  const form = { grant_type: 'client_credentials', client_id: certified.clientId };
  const request = post(`/realms/${realm}/oauth2/token`, form, { 'x-ssl-client-der': certified.der });
  return { ready: () => request };
};

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

/** As {@link par}, as FAPI 2.0 has it: an assertion and a proof with a nonce at both endpoints, and bound tokens. */
const fapi2: Flow = async (wire, index, { realm: options, baseUrl = '' }) => {
  const { realm, bank, redirectUri } = options;
  const issuer = `${baseUrl}/realms/${realm}`;
  const key = createPrivateKey(bank.privateKey);
  const assertion = () => {
    const iat = Math.floor(Date.now() / 1000);
    const said = { iss: bank.clientId, sub: bank.clientId, aud: issuer, jti: randomUUID(), iat, exp: iat + 60 };
    return signed({ alg: 'ES256', kid: bank.kid, typ: 'JWT' }, said, key);
  };
  // The key of the pushed request's proof is the one that the code is bound to (RFC 9449 §10.1).
  const keys = proofKeys();
  const proofOf = { par: proofs(`${issuer}/oauth2/par`, keys), token: proofs(`${issuer}/oauth2/token`, keys) };
  let nonce: string | undefined;
  const send = async (endpoint: keyof typeof proofOf, form: Record<string, string>): Promise<WireAnswer> => {
    const client = {
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion(),
    };
    const request = post(
      `/realms/${realm}/oauth2/${endpoint}`,
      { ...form, ...client },
      { dpop: proofOf[endpoint](nonce) },
    );
    const answer = await wire.send(request);
    const known = nonce;
    nonce = nonceIn(answer);
    return answer.status === 400 && nonce !== known ? send(endpoint, form) : answer;
  };
  const jar = new Jar();
  await signIn(wire, jar, options, userOf(options, index));
  return {
    async step() {
      const { verifier, challenge } = authorization(options);
      const pushed = await send('par', {
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'openid',
        code_challenge: challenge,
        code_challenge_method: 'S256',
      });
      const { request_uri: uri }: { request_uri: string } = JSON.parse(expectStatus(pushed, 201).body);
      const query = new URLSearchParams({ client_id: bank.clientId, request_uri: uri });
      const code = codeIn(await wire.send(get(`/realms/${realm}/oauth2/authorize?${query}`, jar.header)));
      const redeemed = { grant_type: 'authorization_code', redirect_uri: redirectUri, code, code_verifier: verifier };
      expectStatus(await send('token', redeemed), 200);
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

/** The same decision, asked by the resource server itself. */
/** Polls one waiting request, as a client does until the user decides; a request that has expired is asked anew. */
const backchannel: Flow = async (wire, index, { realm: options }) => {
  const { realm, partner, secret } = options;
  const headers = basic(partner, secret);
  const at = `/realms/${realm}/oauth2`;
  async function ask(): Promise<string> {
    const form = { scope: 'openid', login_hint: userOf(options, index), requested_expiry: '600' };
    const { body } = expectStatus(await wire.send(post(`${at}/backchannel_authentication`, form, headers)), 200);
    const grant_type = 'urn:openid:params:grant-type:ciba';
    return post(`${at}/token`, { grant_type, auth_req_id: JSON.parse(body).auth_req_id }, headers);
  }
  let request = await ask();
  return {
    async step() {
      const { body } = expectStatus(await wire.send(request), 400);
      if (JSON.parse(body).error === 'expired_token') request = await ask();
      return true;
    },
  };
};

const evaluation: Flow = async (_wire, index, { realm: options }) => {
  const { realm, secret, guarded } = options;
  const asked = {
    subject: { type: 'user', id: userOf(options, index) },
    action: { name: guarded.action },
    resource: { type: 'resource', id: guarded.resource },
  };
  const request = postJson(`/realms/${realm}/access/v1/evaluation`, asked, basic(guarded.clientId, secret));
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
  mtls,
  par,
  fapi2,
  exchange,
  decision,
  evaluation,
  backchannel,
  saml,
  'scim-create': scimCreate,
  'scim-find': scimFind,
};
