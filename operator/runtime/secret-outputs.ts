// The credentials of clients with secretOutput. The operator generates the secret, stores it in a Secret before the
// realm has it, and declares it from there like any other. So the Secret's value is authoritative, even if a pass is
// interrupted. Decisions "Custom resources".
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { allRows, type Client } from '../../server/contract/client.ts';
import { createClientSecret, listClients } from '../../server/contract/clients.ts';
import { HOUR_SECONDS } from '../../server/contract/durations.ts';
import { InRealm } from '../../server/contract/names.ts';
import { discoveryRoute } from '../../server/contract/oauth.ts';
import { route } from '../../server/contract/route.ts';
import { CLIENT_ID, CLIENT_SECRET, type ClientOutput, secretName, Unusable } from '../kinds/kind.ts';
import { nameOf, type Resource } from '../resource.ts';
import type { OwnSecret, OwnSecrets, Source } from '../source/source.ts';
import { type Outcome, Stalled } from './outcome.ts';
import { createSecretHandOver, type SecretHandOverOptions } from './secret-hand-over.ts';

/** A field of the realm's discovery document → the key in the Secret that holds it. */
const told = {
  issuer: 'issuer',
  authorization_endpoint: 'authorization-endpoint',
  token_endpoint: 'token-endpoint',
  userinfo_endpoint: 'userinfo-endpoint',
  jwks_uri: 'jwks-uri',
  end_session_endpoint: 'end-session-endpoint',
  introspection_endpoint: 'introspection-endpoint',
  revocation_endpoint: 'revocation-endpoint',
} as const;
const discovery = route({
  method: 'GET',
  path: discoveryRoute.url,
  tag: 'discovery',
  summary: discoveryRoute.schema.summary,
  principal: 'anonymous',
  surface: 'protocol',
  permission: null,
  params: InRealm,
  response: z.looseObject(Object.fromEntries(Object.keys(told).map((name) => [name, z.string().optional()]))),
});

interface Outputs {
  /** A message for each Secret that can't be created here. */
  warnings: readonly string[];
  /** The values in the Secrets, for the documents. */
  values: ReadonlyMap<string, string>;
  /** After the apply: writes the realm's addresses, and newly requested secrets, into the Secrets. */
  finish(realm: string, outcome: Outcome): Promise<void>;
}

interface SecretOutputsOptions extends SecretHandOverOptions {
  source: Source;
  client: Client;
  now(): Date;
}

export function createSecretOutputs({ source, client, now, ...options }: SecretOutputsOptions) {
  const hands = createSecretHandOver(options);

  /** @throws Stalled `SecretTaken` */
  async function readOrTake(
    own: OwnSecrets,
    resource: Resource,
    output: ClientOutput,
    { make }: { make: boolean },
  ): Promise<OwnSecret | undefined> {
    const { name } = output;
    const there = await own.read(resource, name);
    if (there !== 'others') return there;
    const maker = hands.maker(own, resource, name);
    if (make && maker && (await hands.take(own, output, maker, resource))) {
      const taken = await own.read(resource, name);
      if (taken !== 'others') return taken;
    }
    const way = 'give secretOutput another name, or delete that Secret';
    throw new Stalled(
      'SecretTaken',
      maker
        ? `the Secret ${name} is ${nameOf(maker)}’s: if the client moves here, take it out there and it comes with its secret; else ${way}`
        : `the Secret ${name} is there and was not made by this resource: ${way}`,
    );
  }

  /** @throws Stalled `SecretTaken` */
  async function provide(
    own: OwnSecrets,
    resource: Resource,
    output: ClientOutput,
    { make }: { make: boolean },
  ): Promise<OwnSecret | undefined> {
    const { name, clientId, confidential, rotation } = output;
    const there = await readOrTake(own, resource, output, { make });
    const isOfClient = there?.values.get(CLIENT_ID) === clientId;
    if (isOfClient && confidential === Boolean(there.values.get(CLIENT_SECRET))) return there;
    if (!make) return undefined;
    const clientSecret = confidential ? randomBytes(32).toString('base64url') : null;
    const values = new Map([
      [CLIENT_ID, clientId],
      ...(clientSecret !== null || there ? ([[CLIENT_SECRET, clientSecret]] as const) : []),
    ]);
    await own.write(resource, name, { values, rotation, version: there?.version });
    const made = await own.read(resource, name);
    return made === 'others' ? undefined : made;
  }

  async function endpointsOf(realm: string): Promise<[string, string][]> {
    const { body = {} } = await client.call(discovery, { params: { realm } });
    return Object.entries(told).flatMap(([field, key]): [string, string][] => {
      const value = body[field];
      return typeof value === 'string' ? [[key, value]] : [];
    });
  }

  /** @returns the new secret; the old one stays valid for a while. Undefined if the client no longer exists */
  async function rotated(
    resource: Resource,
    realm: string,
    { clientId, name, graceSeconds = HOUR_SECONDS }: ClientOutput,
  ): Promise<string | undefined> {
    for await (const { id, clientId: found } of allRows(client, listClients, {
      params: { realm },
      query: { q: clientId },
    })) {
      if (found !== clientId) continue;
      const { body } = await client.call(createClientSecret, { params: { realm, id }, body: { graceSeconds } });
      const until = new Date(now().getTime() + graceSeconds * 1000).toISOString();
      const message = `a new secret of client ${clientId} is in the Secret ${name}; the old one works until ${until}`;
      await source.say(resource, { type: 'Normal', reason: 'SecretRotated', message });
      return body?.secret;
    }
    return undefined;
  }

  /** Deletes Secrets that no secretOutput of the spec names any longer. */
  async function takeAway(own: OwnSecrets, resource: Resource, outputs: readonly ClientOutput[]): Promise<void> {
    for (const name of own.namesOf(resource)) {
      if (outputs.some((output) => output.name === name) || (await hands.offer(own, resource, name))) continue;
      if (!(await own.remove(resource, name))) continue;
      const message = `the Secret ${name} is deleted: no secretOutput names it any more`;
      await source.say(resource, { type: 'Normal', reason: 'SecretRemoved', message });
    }
  }

  async function provideAll(
    resource: Resource,
    outputs: readonly ClientOutput[],
    { make }: { make: boolean },
  ): Promise<Outputs> {
    const values = new Map<string, string>();
    const own = source.ownSecrets;
    if (!own) {
      const lost = ({ name, clientId }: ClientOutput) =>
        `Secret ${name} of client ${clientId} is not made: secretOutput needs a cluster`;
      return { values, warnings: outputs.map(lost), finish: async () => {} };
    }
    const twice = outputs.find(({ name }, i) => outputs.findIndex((other) => other.name === name) !== i);
    if (twice) throw new Unusable(`the Secret ${twice.name} is the secretOutput of two clients: each has its own`);
    const provided: { output: ClientOutput; secret: OwnSecret }[] = [];
    for (const output of outputs) {
      const secret = await provide(own, resource, output, { make });
      if (!secret) continue;
      provided.push({ output, secret });
      const value = secret.values.get(CLIENT_SECRET);
      if (output.confidential && value) values.set(secretName({ name: output.name, key: CLIENT_SECRET }), value);
    }

    return {
      values,
      warnings: [],
      async finish(realm, outcome) {
        if (outcome.is !== 'Ready') return;
        await takeAway(own, resource, outputs);
        if (provided.length === 0) return;
        const endpoints = await endpointsOf(realm);
        for (const { output, secret } of provided) {
          const { rotation = secret.rotation, confidential, name } = output;
          // only the operator's own keys: the values of others need not even be text
          const next = new Map(endpoints);
          const asked = confidential && rotation !== secret.rotation;
          const fresh = asked ? await rotated(resource, realm, output) : undefined;
          if (fresh !== undefined) next.set(CLIENT_SECRET, fresh);
          const same = [...next].every(([key, value]) => secret.values.get(key) === value);
          if (same && rotation === secret.rotation) continue;
          await own.write(resource, name, { ...secret, values: next, rotation });
        }
      },
    };
  }

  return {
    provideAll,
    /** The resource is being deleted: Secrets that another resource declares now move to that one. */
    async leave(resource: Resource): Promise<void> {
      if (source.ownSecrets) await hands.leave(source.ownSecrets, resource);
    },
  };
}
