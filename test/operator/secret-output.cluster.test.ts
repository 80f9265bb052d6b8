// A client's credentials in a Secret that the operator makes, on a real API server: they work, and nobody else's is touched.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listClients, putClient } from '../../server/contract/clients.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { type Landscape, startLandscape } from '../support/landscape.ts';
import { atRest, eventually, type Manifest, resource, secret } from '../support/operator.ts';

const assets = await clusterAssets();
const realm = 'outputs';
const service = (clientId: string, more: object = {}) => ({ clientId, grantTypes: ['client_credentials'], ...more });

describe.skipIf(!assets.found)('a client’s secretOutput', () => {
  let land: Landscape;
  beforeAll(async () => {
    land = await startLandscape();
    await land.start();
  });
  afterAll(() => land?.stop());

  const theRealm = (...clients: object[]) => resource('Realm', 'outputs', { realm, clients, deletionPolicy: 'Delete' });
  const reports = (output: object = {}) => service('reports', { secretOutput: { name: 'reports-oidc', ...output } });
  const kept = (name: string) => land.object('Secret', name);
  const values = async (name: string): Promise<Record<string, string>> =>
    Object.fromEntries(
      Object.entries((await kept(name)).data ?? {}).map(([key, value]) => [
        key,
        Buffer.from(`${value}`, 'base64').toString(),
      ]),
    );
  const says = (reason: string, name = 'outputs') =>
    eventually(async () => {
      const { metadata, status } = await land.object('Realm', name);
      const { conditions = [] } = Object(status);
      const found = conditions.find(
        (c: { reason: string; observedGeneration: number }) =>
          c.reason === reason && c.observedGeneration === metadata.generation,
      );
      if (!found) throw new Error(JSON.stringify(conditions));
      return String(found.message);
    });
  /** The status of a token request with what the Secret holds, at the endpoint that it names. */
  async function tokenWith(given: Record<string, string>, clientSecret = given['client-secret']): Promise<number> {
    const basic = Buffer.from(`${given['client-id']}:${clientSecret}`).toString('base64');
    const answer = await fetch(given['token-endpoint'] ?? '', {
      method: 'POST',
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    return answer.status;
  }
  const working = (name: string, other?: string) =>
    eventually(async () => {
      const found = await values(name);
      expect(found['client-secret']).not.toBe(other);
      expect(await tokenWith(found)).toBe(200);
      return found;
    });

  test('holds credentials that work, issuer and endpoints, belongs to the resource, and rests as it is', async () => {
    await land.apply(
      theRealm(reports(), {
        clientId: 'page',
        tokenEndpointAuthMethod: 'none',
        redirectUris: ['https://page.example.com/'],
        secretOutput: { name: 'page-oidc' },
      }),
    );
    await says('Applied');
    const found = await working('reports-oidc');
    expect(found).toMatchObject({
      'client-id': 'reports',
      issuer: expect.stringContaining('/realms/outputs'),
      'jwks-uri': expect.stringContaining('/realms/outputs/oauth2/jwks'),
    });
    const page = await values('page-oidc');
    expect(page).toMatchObject({ 'client-id': 'page', issuer: found.issuer });
    expect(page).not.toHaveProperty('client-secret');

    const { metadata } = await land.object('Realm', 'outputs');
    const { metadata: of } = await kept('reports-oidc');
    expect(of.ownerReferences).toEqual([
      expect.objectContaining({ kind: 'Realm', uid: metadata.uid, controller: true }),
    ]);
    expect(JSON.stringify([await land.object('Realm', 'outputs'), await land.operator.said()])).not.toContain(
      found['client-secret'],
    );
    await land.kubectl('annotate', 'realm', 'outputs', 'realmkeeper.dev/look=again');
    expect(await atRest(async () => (await kept('reports-oidc')).metadata.resourceVersion)).toBe(of.resourceVersion);
  });

  test('is made anew with a new secret where somebody deletes it, and the old one ends', async () => {
    const before = await working('reports-oidc');
    await land.kubectl('delete', 'secret', 'reports-oidc');
    await working('reports-oidc', before['client-secret']);
    expect(await tokenWith(before)).toBe(401);
  });

  test('has a new secret where rotation says another word, once, and the old one works for the time given', async () => {
    const before = await working('reports-oidc');
    await land.apply(theRealm(reports({ rotation: 'first', graceSeconds: 600 })));
    const first = await working('reports-oidc', before['client-secret']);
    expect(await tokenWith(first, before['client-secret'])).toBe(200);
    await land.apply(theRealm(reports({ rotation: 'second', graceSeconds: 0 })));
    const second = await working('reports-oidc', first['client-secret']);
    expect(await tokenWith(second, first['client-secret'])).toBe(401);
    await land.kubectl('annotate', 'realm', 'outputs', 'realmkeeper.dev/look=twice', '--overwrite');
    expect(await atRest(() => values('reports-oidc'))).toEqual(second);
  });

  test('what others keep in it stays, and a secret that was changed on the server is put back', async () => {
    await land.kubectl('label', 'secret', 'reports-oidc', 'team=shop');
    const before = await working('reports-oidc');
    const params = { realm };
    const { body = [] } = await land.client.call(listClients, { params, query: { q: 'reports' } });
    await land.client.call(putClient, {
      params: { realm, id: body[0]?.id ?? '' },
      body: { secret: 'another-secret-that-a-person-chose' },
    });
    await eventually(async () => expect(await tokenWith(before)).toBe(200));
    expect(await values('reports-oidc')).toEqual(before);
    expect((await kept('reports-oidc')).metadata.labels).toMatchObject({ team: 'shop' });
  });

  test('keys that others put there stay to the last byte, whatever is written beside them', async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80]).toString('base64');
    const before = await working('reports-oidc');
    await land.kubectl(
      'patch',
      'secret',
      'reports-oidc',
      '--type=merge',
      '-p',
      JSON.stringify({ data: { key: bytes } }),
    );
    await land.apply(theRealm(reports({ rotation: 'beside', graceSeconds: 0 })));
    await working('reports-oidc', before['client-secret']);
    expect((await kept('reports-oidc')).data?.key).toBe(bytes);
  });

  test('goes when the spec names it no more, and the one in its place holds what works', async () => {
    await land.apply(theRealm(service('reports', { secretOutput: { name: 'reports-renamed' } })));
    await working('reports-renamed');
    await eventually(async () => await expect(kept('reports-oidc')).rejects.toThrow('not found'));
    await land.apply(secret('reports-beside', { 'client-id': 'reports' }));
    await land.apply(theRealm(service('reports')));
    await eventually(async () => await expect(kept('reports-renamed')).rejects.toThrow('not found'));
    expect((await kept('reports-beside')).metadata.name).toBe('reports-beside');
    expect(await land.kubectl('get', 'events', '-o', 'jsonpath={.items[*].reason}')).toContain('SecretRemoved');
    await land.apply(theRealm(reports()));
    await working('reports-oidc');
  });

  test('of a client that becomes public it keeps no secret', async () => {
    const output = { secretOutput: { name: 'turning' } };
    await land.apply(theRealm(service('turning', output)));
    await working('turning');
    const page = { tokenEndpointAuthMethod: 'none', redirectUris: ['https://page.example.com/'], ...output };
    await land.apply(theRealm({ clientId: 'turning', ...page }));
    await eventually(async () => expect(await values('turning')).not.toHaveProperty('client-secret'));
    expect(await values('turning')).toMatchObject({ 'client-id': 'turning' });
    await land.apply(theRealm(reports()));
    await working('reports-oidc');
  });

  test('is refused over a Secret that is somebody else’s, which stays as it is, and taken once that is gone', async () => {
    await land.apply(secret('of-others', { 'client-secret': 'theirs' }));
    const before = await kept('of-others');
    await land.apply(theRealm(reports(), service('other', { secretOutput: { name: 'of-others' } })));
    expect(await says('SecretTaken')).toContain('of-others');
    expect(await kept('of-others')).toEqual(before);
    await land.kubectl('delete', 'secret', 'of-others');
    await working('of-others');
  });

  test('a client has its secret from one place, and a Secret is one client’s', async () => {
    const both = service('both', { secretOutput: { name: 'x' }, secretKeyRef: { name: 'y', key: 'z' } });
    await expect(land.apply(theRealm(both))).rejects.toThrow('not both');
    const one = { secretOutput: { name: 'shared' } };
    await land.apply(theRealm(service('a', one), service('b', one)));
    expect(await says('Invalid')).toContain('each has its own');
  });

  test('goes with the resource', async () => {
    await land.kubectl('delete', 'realm', 'outputs', '--timeout=120s');
    await eventually(async () =>
      expect(await land.kubectl('get', 'secret', '-o', 'name')).not.toContain('reports-oidc'),
    );
  });

  const part = (of: string, name: string, ...clientIds: string[]) =>
    resource('Realm', name, {
      realm: of,
      clients: clientIds.map((id) => service(id, { secretOutput: { name: `${of}-${id}` } })),
    });
  /** Asks for tokens again and again; answers what was refused. */
  function asking(given: Record<string, string>): () => Promise<number[]> {
    const refused: number[] = [];
    let done = false;
    const asked = (async () => {
      while (!done) {
        const status = await tokenWith(given);
        if (status !== 200) refused.push(status);
        await sleep(50);
      }
    })();
    return async () => {
      done = true;
      await asked;
      return refused;
    };
  }
  const orders = ['the new one comes first', 'the old one changes first', 'both come at once'] as const;
  const moves = {
    'of a Realm resource that is renamed': {
      before: (of: string) => part(of, `${of}-old`, 'moving'),
      after: undefined,
    },
    'of a client that is split off': {
      before: (of: string) => part(of, `${of}-old`, 'staying', 'moving'),
      after: (of: string) => part(of, `${of}-old`, 'staying'),
    },
  };
  const moved = Object.entries(moves).flatMap(([what, { after }]) =>
    orders.filter((order) => after || order !== 'both come at once').map((order) => [what, order] as const),
  );

  test.for(moved)(
    '%s moves with its secret, which works all the time: %s',
    async ([what, order], { onTestFinished }) => {
      const move = Object.entries(moves).find(([name]) => name === what)?.[1];
      if (!move) throw new Error(what);
      const of = `moved-${moved.findIndex((one) => one[0] === what && one[1] === order)}`;
      const name = `${of}-moving`;
      await land.apply(move.before(of));
      const before = await working(name);
      const { metadata: made } = await kept(name);
      const refused = asking(before);
      onTestFinished(async () => void (await refused()));

      const fresh: Manifest = part(of, `${of}-new`, 'moving');
      const old = move.after?.(of);
      const letGo = () => (old ? land.apply(old) : land.kubectl('delete', 'realm', `${of}-old`, '--wait=false'));
      if (order === 'the new one comes first') {
        await land.apply(fresh);
        expect(await says('SecretTaken', `${of}-new`)).toContain(`${of}-old`);
        await letGo();
      } else {
        // slow machines: what a commit brings is there before the operator goes on
        await land.operator.pause();
        if (order === 'both come at once' && old) await land.apply(fresh, old);
        else {
          await letGo();
          await land.apply(fresh);
        }
        await land.operator.resume();
      }

      await eventually(async () => {
        const { metadata } = await land.object('Realm', `${of}-new`);
        expect((await kept(name)).metadata.ownerReferences).toEqual([
          expect.objectContaining({ kind: 'Realm', uid: metadata.uid, controller: true }),
        ]);
      });
      await says('Applied', `${of}-new`);
      await atRest(async () => (await kept(name)).metadata.resourceVersion);
      expect((await kept(name)).metadata.uid).toBe(made.uid);
      expect(await values(name)).toEqual(before);
      expect(await refused()).toEqual([]);
      if (old) expect(await tokenWith(await values(`${of}-staying`))).toBe(200);
      else await eventually(() => expect(land.kubectl('get', 'realm', `${of}-old`)).rejects.toThrow('not found'));
    },
  );

  test('does not go to another client that has its name from then on', async () => {
    const one = (name: string, ...clients: object[]) => resource('Realm', name, { realm: 'unlike', clients });
    const secretOutput = { name: 'unlike' };
    await land.apply(one('unlike-one', service('one', { secretOutput })));
    const before = await working('unlike');
    await land.apply(one('unlike-two', service('two', { secretOutput })));
    await says('SecretTaken', 'unlike-two');
    await land.apply(one('unlike-one', service('three')));
    const after = await working('unlike', before['client-secret']);
    expect(after['client-id']).toBe('two');
  });

  test('is not believed to be a moved client’s for its label and what is in it', async () => {
    await land.apply(part('unmoved', 'unmoved-one', 'one'));
    await working('unmoved-one');
    const byHand = secret('unmoved-two', { 'client-id': 'two', 'client-secret': 'chosen-by-somebody-else' });
    const labels = { 'app.kubernetes.io/managed-by': 'realmkeeper-operator' };
    await land.apply({ ...byHand, metadata: { ...byHand.metadata, labels } });
    const before = await kept('unmoved-two');
    await land.apply(part('unmoved', 'unmoved-two', 'two'));
    expect(await says('SecretTaken', 'unmoved-two')).toContain('was not made by this resource');
    expect(await kept('unmoved-two')).toEqual(before);
  });
});
