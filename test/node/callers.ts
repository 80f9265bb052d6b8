// Owns: people who sign in and services that ask for tokens, one after another without a pause, while a test does something to
// the servers; and every fault that they see.
// Does not own: what is done to the servers (node.long.test.ts).
import { hash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { createUser } from '../../server/contract/users.ts';
import { createPerson } from '../support/person.ts';
import { NAMESPACE, type Release } from './release.ts';

const REALM = 'callers';
const CALLBACK = 'http://127.0.0.1/callback';
const PASSWORD = randomBytes(18).toString('base64url');
const SECRET = randomBytes(32).toString('base64url');
const PEOPLE = 4;

const manifests = [
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'callers', namespace: NAMESPACE },
    stringData: { service: SECRET },
  },
  {
    apiVersion: 'realmkeeper.dev/v1alpha1',
    kind: 'Realm',
    metadata: { name: REALM, namespace: NAMESPACE },
    spec: {
      realm: REALM,
      clients: [
        { clientId: 'service', grantTypes: ['client_credentials'], secretKeyRef: { name: 'callers', key: 'service' } },
        {
          clientId: 'application',
          tokenEndpointAuthMethod: 'none',
          grantTypes: ['authorization_code'],
          redirectUris: [CALLBACK],
        },
      ],
    },
  },
];

/** Declares the realm that is called, and waits until the operator has made it. */
export async function makeCallers({ must, admin }: Release): Promise<void> {
  await must(['apply', '-f', '-'], manifests.map((each) => stringify(each)).join('---\n'));
  await must(['wait', '--for=condition=Ready', `realm/${REALM}`, '-n', NAMESPACE, '--timeout=120s']);
  const client = await admin();
  for (let n = 0; n < PEOPLE; n += 1)
    await client.call(createUser, {
      params: { realm: REALM },
      body: { username: `person-${n}`, email: `person-${n}@people.example`, password: PASSWORD },
    });
}

export interface Called {
  signIns: number;
  tokens: number;
  /** What went wrong, in the order that it was seen. */
  faults: string[];
}

async function askForToken(url: string, form: Record<string, string>, authorization?: string): Promise<void> {
  const answer = await fetch(`${url}/realms/${REALM}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
    ...(authorization !== undefined && { headers: { authorization } }),
  });
  const body = await answer.text();
  if (!answer.ok) throw new Error(`the token endpoint answers ${answer.status}: ${body.slice(0, 200)}`);
}

const serviceToken = (url: string) =>
  askForToken(
    url,
    { grant_type: 'client_credentials' },
    `Basic ${Buffer.from(`service:${SECRET}`).toString('base64')}`,
  );

/** From the application's link through the sign-in page to a token. */
async function signIn(url: string, username: string): Promise<void> {
  const person = createPerson(url);
  const verifier = randomBytes(32).toString('base64url');
  const asked = new URLSearchParams({
    client_id: 'application',
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid',
    code_challenge: hash('sha256', verifier, 'base64url'),
    code_challenge_method: 'S256',
  });
  const page = await person.open(`/realms/${REALM}/oauth2/authorize?${asked}`);
  const shown = await person.fill(page, { username, password: PASSWORD });
  const code = new URL(shown.url).searchParams.get('code');
  if (code === null) throw new Error(`after the password: ${shown.status} ${shown.heading} at ${shown.url}`);
  const grant = { grant_type: 'authorization_code', client_id: 'application', redirect_uri: CALLBACK };
  await askForToken(url, { ...grant, code, code_verifier: verifier });
}

/** Calls until it is stopped; then says how often, and what went wrong. */
export function startCallers({ url }: Release) {
  const called: Called = { signIns: 0, tokens: 0, faults: [] };
  const began = Date.now();
  let going = true;
  const repeat = async (name: 'signIns' | 'tokens', step: () => Promise<void>) => {
    while (going) {
      try {
        await step();
        called[name] += 1;
      } catch (error) {
        const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
        called.faults.push(`${name} after ${Date.now() - began} ms: ${String(error)}${cause}`);
      }
      // what one thread of this process takes, the servers beside it lack
      await sleep(20);
    }
  };
  const loops = [
    ...Array.from({ length: PEOPLE }, (_, n) => repeat('signIns', () => signIn(url, `person-${n}`))),
    ...Array.from({ length: PEOPLE }, () => repeat('tokens', () => serviceToken(url))),
  ];
  return {
    called,
    async stop(): Promise<Called> {
      going = false;
      await Promise.all(loops);
      return called;
    },
  };
}
