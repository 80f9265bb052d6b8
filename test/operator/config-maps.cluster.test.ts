// Values of a Realm that stand in ConfigMaps, on a real API server: they are what the realm has, and followed when they change.
import { describe, expect, test } from 'vitest';
import { listClients } from '../../server/contract/clients.ts';
import { getSettings } from '../../server/contract/settings.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { landscape } from '../support/landscape.ts';
import { atRest, eventually, type Manifest, resource, secret } from '../support/operator.ts';

const assets = await clusterAssets();
const params = { realm: 'sourced' };
const keys = JSON.stringify({
  keys: [{ kty: 'OKP', crv: 'Ed25519', kid: 'one', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }],
});

describe.skipIf(!assets.found)('values from ConfigMaps', () => {
  const land = landscape();
  const configMap = (name: string, data: Record<string, string>): Manifest => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
    data,
  });
  const from = (name: string, key: string) => ({ configMapKeyRef: { name, key } });
  const theRealm = (spec: object = {}) =>
    resource('Realm', 'sourced', {
      realm: params.realm,
      settings: { customCssFrom: from('brand', 'custom.css'), welcomeText: 'inline', ...spec },
      clients: [
        {
          clientId: 'signer',
          grantTypes: ['client_credentials'],
          tokenEndpointAuthMethod: 'private_key_jwt',
          jwksFrom: from('keys', 'jwks.json'),
        },
      ],
    });
  const says = (reason: string) =>
    eventually(async () => {
      const { metadata, status } = await land.object('Realm', 'sourced');
      const { conditions = [] } = Object(status);
      const found = conditions.find(
        (c: { reason: string; observedGeneration: number }) =>
          c.reason === reason && c.observedGeneration === metadata.generation,
      );
      if (!found) throw new Error(`says ${JSON.stringify(conditions)}, not ${reason}`);
      return String(found.message);
    });
  const css = async () => (await land.client.call(getSettings, { params })).body?.customCss;
  const refusal = (spec: object) =>
    land.apply(theRealm(spec)).then(
      () => 'taken',
      (error: unknown) => String(error),
    );

  test('all that is missing is told at once, and what comes is taken', async () => {
    await land.apply(theRealm());
    expect(await says('ConfigMapMissing')).toMatch(/ConfigMap brand .*ConfigMap keys /);
    await land.apply(configMap('brand', { 'custom.css': '.card { color: teal }' }), configMap('keys', { other: 'x' }));
    await eventually(async () =>
      expect(await says('ConfigMapMissing')).toMatch(/^waiting for the key jwks.json in the ConfigMap keys/),
    );
    await land.apply(configMap('keys', { 'jwks.json': '{ "keys": ' }));
    expect(await says('Invalid')).toContain('holds no JSON');
    await land.apply(configMap('keys', { 'jwks.json': keys }));
    await says('Applied');
    expect(await css()).toBe('.card { color: teal }');
    const { body = [] } = await land.client.call(listClients, { params, query: { q: 'signer' } });
    expect(body[0]?.jwks).toEqual(JSON.parse(keys));
    expect((await land.object('Realm', 'sourced')).metadata).toMatchObject({ generation: 1 });
  });

  test('a change is followed, as a change and not as drift, also where drift is only reported', async () => {
    await land.apply(configMap('brand', { 'custom.css': '.card { color: navy }' }));
    await eventually(async () => expect(await css()).toBe('.card { color: navy }'));
    await land.apply({ ...theRealm(), spec: { ...Object(theRealm().spec), driftPolicy: 'Report' } });
    await says('Applied');
    await land.apply(configMap('brand', { 'custom.css': '.card { color: plum }' }));
    await eventually(async () => expect(await css()).toBe('.card { color: plum }'));
    await says('Applied');
    const events = await land.kubectl('get', 'events', '-o', 'jsonpath={.items[*].reason}');
    expect(events).not.toContain('Repaired');
    await atRest(async () => (await land.object('Realm', 'sourced')).metadata.resourceVersion);
  });

  test('a value may as well come from a Secret, and stands in one place alone', async () => {
    await land.apply(secret('brand', { css: '.card { color: gold }' }));
    await land.apply(theRealm({ customCssFrom: { secretKeyRef: { name: 'brand', key: 'css' } } }));
    await eventually(async () => expect(await css()).toBe('.card { color: gold }'));
    expect(await refusal({ customCss: 'x' })).toContain('customCss stands here or comes from customCssFrom, not both');
    const both = { ...from('brand', 'css'), secretKeyRef: { name: 'brand', key: 'css' } };
    expect(await refusal({ customCssFrom: both })).toContain('exactly one of the two');
  });
});
