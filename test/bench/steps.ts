// What flows are made of: the realm that they walk, what a step is, and the ways of an application and of a browser.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, randomUUID, sign } from 'node:crypto';
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
  /** A client that is held to FAPI 2.0, and its key by ES256 (PKCS #8, PEM). */
  bank: { clientId: string; kid: string; privateKey: string };
  /** A SAML service provider that the same people sign on to; it wants assertions signed, and nothing else. */
  serviceProvider: { entityId: string; consumer: string };
  /** The resource server whose policies decide, the resource, and its only scope. */
  /** A client with tls_client_auth: its certificate in DER by base64, and the authority of it in PEM. */
  certified: { clientId: string; name: string; der: string; authority: string };
  guarded: { clientId: string; resource: string; action: string };
  /** People, all with the same password. */
  users: string[];
  password: string;
}

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
export type Step = () => Promise<boolean>;
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
export type Flow = (wire: Wire, index: number, options: FlowOptions) => Promise<Prepared>;

export function expectStatus(answer: WireAnswer, status: number): WireAnswer {
  if (answer.status === status) return answer;
  throw new Error(`expected ${status}: ${answer.head}\n\n${answer.body.slice(0, 500)}`);
}

const SET_COOKIE = '\r\nset-cookie: ';
const LOCATION = '\r\nlocation: ';
const lineAt = (head: string, from: number): string => {
  const end = head.indexOf('\r\n', from);
  return head.slice(from, end < 0 ? undefined : end);
};

/** Cookies as a browser keeps them, without paths: each jar sees one realm. Headers are as our server writes them. */
export class Jar extends Map<string, string> {
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
const NONCE = '\r\ndpop-nonce: ';
/** The nonce for the next proof. */
export function nonceIn({ head }: WireAnswer): string | undefined {
  const at = head.toLowerCase().indexOf(NONCE);
  return at < 0 ? undefined : lineAt(head, at + NONCE.length);
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
export function fieldsOf(page: string): Record<string, string> {
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
export function authorization({ realm, application, redirectUri }: BenchRealm): Asked {
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

export const codeIn = (answer: WireAnswer): string => {
  const location = locationOf(expectStatus(answer, 303));
  const code = /[?&]code=([^&]+)/.exec(location)?.[1];
  if (code === undefined) throw new Error(`no code: ${location}`);
  return code;
};

/** From the application's link through the sign-in page back to the application: three requests, one password. */
export async function signIn(
  wire: Wire,
  jar: Jar,
  options: BenchRealm,
  username: string,
): Promise<Asked & { code: string }> {
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

export const userOf = ({ users }: BenchRealm, n: number): string => users[n % users.length] ?? '';

export const basic = (client: string, secret: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${client}:${secret}`).toString('base64')}`,
});
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JWT by ES256. */
export function signed(header: object, claims: object, key: KeyObject): string {
  const said = `${encoded(header)}.${encoded(claims)}`;
  return `${said}.${sign('sha256', Buffer.from(said), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

export interface ProofKeys {
  privateKey: KeyObject;
  publicKey: KeyObject;
}
export const proofKeys = (): ProofKeys => generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** RFC 9449: each proof is used once, so a connection makes many by a key of its own. */
export function proofs(htu: string, { privateKey, publicKey }: ProofKeys = proofKeys()): (nonce?: string) => string {
  const head = { typ: 'dpop+jwt', alg: 'ES256', jwk: publicKey.export({ format: 'jwk' }) };
  return (nonce) => {
    const iat = Math.floor(Date.now() / 1000);
    return signed(head, { htm: 'POST', htu, jti: randomUUID(), iat, nonce }, privateKey);
  };
}
