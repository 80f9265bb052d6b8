// Owns: a realm with receivers of Shared Signals and people, and what the receivers ask of the transmitter.
// Does not own: signing in (relying-party.ts), a receiver's own server (receiver.ts).
// Implements: tests of Shared Signals.
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import type { SignalReceiver } from '../../server/contract/signal-receivers.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { createUser } from '../../server/contract/users.ts';
import { PASSWORD } from './applications.ts';
import { basic, post } from './clients.ts';
import { createPerson, type Person } from './person.ts';
import { exchange, makeProvider, makeRelyingParty, REALM, requestPath, responseParameters } from './relying-party.ts';
import type { TestServer } from './server.ts';

export const caep = (name: string) => `https://schemas.openid.net/secevent/caep/event-type/${name}`;
export const risc = (name: string) => `https://schemas.openid.net/secevent/risc/event-type/${name}`;
export const ssf = (name: string) => `https://schemas.openid.net/secevent/ssf/event-type/${name}`;
export const PUSH = 'urn:ietf:rfc:8935';
export const POLL = 'urn:ietf:rfc:8936';

export const ALL_EVENTS: SignalReceiver['events'] = [
  'session-revoked',
  'token-claims-change',
  'credential-change',
  'assurance-level-change',
  'account-disabled',
  'account-enabled',
  'account-purged',
  'credential-compromise',
  'identifier-changed',
];

export interface SetClaims {
  iss: string;
  aud: string;
  jti: string;
  iat: number;
  sub_id: Record<string, unknown>;
  events: Record<string, Record<string, unknown>>;
}

/** The realm with the receivers `app` and `other`, a client `stranger` that is none, and people. */
export async function makeSignals(
  server: TestServer,
  receivers: readonly (Partial<SignalReceiver> & { clientId: string })[],
): Promise<Record<string, string>> {
  await makeProvider(server);
  const scopes = ['ssf.manage', 'ssf.read'];
  await server.admin.call(importRealm, {
    params: { realm: REALM },
    body: { clientScopes: scopes.map((name) => ({ name })) },
  });
  for (const clientId of ['app', 'other', 'stranger'])
    await makeRelyingParty(server, clientId, {
      grantTypes: ['authorization_code', 'client_credentials'],
      defaultClientScopes: ['profile', 'email'],
      optionalClientScopes: scopes,
    });
  const body = { signalReceivers: receivers.map((one) => ({ events: ALL_EVENTS, ...one })) };
  await server.admin.call(importRealm, { params: { realm: REALM }, body });
  const ids: Record<string, string> = {};
  for (const username of ['ana', 'ben']) {
    const user = { username, email: `${username}@example.com`, emailVerified: true, password: PASSWORD };
    const { body: made } = await server.admin.call(createUser, { params: { realm: REALM }, body: user });
    ids[username] = made?.id ?? '';
  }
  return ids;
}

/** Signs a person in to a client. */
export async function useClient(
  server: TestServer,
  username: string,
  clientId: string,
  person = createPerson(server.baseUrl),
) {
  let page = await person.open(requestPath({ client_id: clientId }));
  if (page.heading === 'Sign in') page = await person.fill(page, { username, password: PASSWORD });
  const { body } = await exchange(server, responseParameters(page) ?? {}, {}, clientId);
  return { person: person as Person, access: String(body.access_token), idToken: String(body.id_token) };
}

export async function receiverToken(server: TestServer, clientId: string, scope = 'ssf.manage'): Promise<string> {
  const form = { grant_type: 'client_credentials', scope };
  return String((await post(server, REALM, 'token', form, { authorization: basic(clientId) })).body.access_token);
}

/** Asks the transmitter as a receiver. */
export function createReceiverOf(server: TestServer, token: string, realm = REALM) {
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${server.baseUrl}/realms/${realm}/ssf/${path}`, {
      method,
      headers: {
        ...(token !== '' && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  };
  const poll = async (id: string, more: object = {}) =>
    (await call('POST', `streams/${id}/poll`, { returnImmediately: true, ...more })).body as {
      sets: Record<string, string>;
      moreAvailable: boolean;
    };
  /** Fetches what is there and acknowledges it. */
  async function drain(id: string): Promise<SetClaims[]> {
    const { sets } = await poll(id);
    const all = await Promise.all(Object.values(sets).map((jwt) => verified(server, jwt, realm)));
    await poll(id, { ack: Object.keys(sets), maxEvents: 0 });
    return all;
  }
  return {
    call,
    poll,
    drain,
    create: async (more: object = {}) =>
      String((await call('POST', 'streams', { delivery: { method: POLL }, ...more })).body.stream_id),
    /** The first tokens that fit, with those that came before them. */
    async until(id: string, fits: (set: SetClaims) => boolean, ms = 20_000): Promise<SetClaims[]> {
      const seen: SetClaims[] = [];
      for (const end = Date.now() + ms; Date.now() < end; ) {
        seen.push(...(await drain(id)));
        if (seen.some(fits)) return seen;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error(`no such token among ${JSON.stringify(seen)}`);
    },
  };
}

/** Verifies a token as a receiver does: by the realm's keys, of the type of security events. */
export async function verified(server: TestServer, jwt: string, realm = REALM): Promise<SetClaims> {
  const jwks = (await (await fetch(`${server.baseUrl}/realms/${realm}/oauth2/jwks`)).json()) as JSONWebKeySet;
  const { payload } = await jwtVerify(jwt, createLocalJWKSet(jwks), { typ: 'secevent+jwt' });
  return payload as unknown as SetClaims;
}
export const names = (set: SetClaims): string[] => Object.keys(set.events);
export const eventOf = (set: SetClaims | undefined, uri: string) => set?.events[uri];
