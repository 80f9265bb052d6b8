// The CustomResourceDefinitions on the API server that users have: what it takes, what it refuses and how it says so.
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type KindName, kindNames, plurals } from '../../operator/resource.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { type SharedCluster, shareCluster } from '../kubernetes/shared-cluster.ts';
import { type Manifest, resource } from '../support/operator.ts';

const assets = await clusterAssets();
const crds = path.resolve(import.meta.dirname, '../../crds');

const webhook = (name: string, more: object = {}) =>
  resource('Webhook', name, { realm: 'acme', url: 'https://receiver.example/', eventTypes: ['*'], ...more });
const step = { authenticatorId: 'otp', requirement: 'REQUIRED' };
/** A flow whose container at `level` holds these children. */
const flow = (name: string, level: number, at: object): Manifest => {
  let executions: object[] = [at];
  for (let i = 1; i < level; i += 1) executions = [{ name: `level ${i}`, requirement: 'REQUIRED', executions }];
  return resource('Flow', name, { realm: 'acme', executions });
};
const identity = (name: string, more: object) =>
  resource('WorkloadIdentity', name, { realm: 'acme', audience: 'here', clientId: 'app', ...more });

describe.skipIf(!assets.found)('the custom resource definitions', () => {
  let cluster: SharedCluster;
  beforeAll(async () => {
    cluster = await shareCluster();
  });

  const kubectl = (...args: string[]) => cluster.must(args);
  const apply = (manifest: object) => cluster.kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(manifest));
  const accepts = async (manifest: object) => expect(await apply(manifest)).toMatchObject({ code: 0 });
  const refuses = async (manifest: object, ...words: string[]) => {
    const { code, stderr } = await apply(manifest);
    expect(code, 'was accepted').not.toBe(0);
    for (const word of words) expect(stderr).toContain(word);
  };

  test('are served with the conventions of Kubernetes, without a complaint of the API server', async () => {
    const Crd = z.object({
      spec: z.object({
        scope: z.literal('Namespaced'),
        names: z.object({ kind: z.string(), categories: z.array(z.string()), shortNames: z.array(z.string()).min(1) }),
        versions: z.tuple([
          z.object({ name: z.literal('v1alpha1'), subresources: z.object({ status: z.object({}) }) }),
        ]),
      }),
      status: z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })) }),
    });
    const { items } = z.object({ items: z.array(Crd) }).parse(JSON.parse(await kubectl('get', 'crds', '-o', 'json')));
    expect(items.map((crd) => crd.spec.names.kind).sort()).toEqual([...kindNames].sort());
    for (const { spec, status } of items) {
      expect(spec.names.categories).toEqual(['realmkeeper']);
      const held = status.conditions.filter((c) => c.status === 'True').map((c) => c.type);
      expect(held.sort()).toEqual(['Established', 'NamesAccepted']);
    }
  });

  test('apply again without a change, also from a client that compares by itself', async () => {
    const { code, stdout, stderr } = await cluster.kubectl(['apply', '--server-side', '-f', crds]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.trim().split('\n')).toHaveLength(4);
  });

  test('take the examples, strictly validated, in one command', async () => {
    const folder = path.join(crds, 'examples');
    const dry = await cluster.kubectl(['apply', '--dry-run=server', '--validate=strict', '-f', folder]);
    expect([dry.code, dry.stderr]).toEqual([0, '']);
    const { code, stdout, stderr } = await cluster.kubectl(['apply', '-f', folder]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('realm.realmkeeper.dev/demo created');
    expect(stdout).toContain('flow.realmkeeper.dev/demo-browser created');
    // what the API server stored is what was written: no defaults that would look declared
    expect((await cluster.kubectl(['diff', '-f', folder])).stdout).toBe('');
    const spec = JSON.parse(await kubectl('get', 'realm', 'demo', '-o', 'jsonpath={.spec.settings}'));
    expect(Object.keys(spec).length).toBeLessThan(12);
    expect((await kubectl('get', 'realmkeeper', '-o', 'name')).trim().split('\n').length).toBeGreaterThanOrEqual(4);
  });

  test('take a message template without a language, and keep templates by the owner of each', async () => {
    const template = (more: object) => ({ templateKey: 'otp-email', channel: 'EMAIL', ...more });
    const realm = (...messageTemplates: object[]) => resource('Realm', 'worded', { realm: 'worded', messageTemplates });
    const applyAs = (manager: string, manifest: object) =>
      cluster.kubectl(
        ['apply', '--server-side', '--validate=strict', '--field-manager', manager, '-f', '-'],
        JSON.stringify(manifest),
      );
    const stored = async () =>
      JSON.parse(await kubectl('get', 'realm', 'worded', '-o', 'jsonpath={.spec.messageTemplates}'));
    const own = template({ body: 'Your code is {{code}}' });
    const german = template({ locale: 'de', body: 'Ihr Code ist {{code}}' });
    expect(await applyAs('one', realm(own))).toMatchObject({ code: 0 });
    expect(await stored()).toEqual([{ ...own, locale: 'und' }]);
    expect(await applyAs('two', realm(german))).toMatchObject({ code: 0 });
    expect(await applyAs('one', realm(own))).toMatchObject({ code: 0 });
    expect(await stored()).toEqual([{ ...own, locale: 'und' }, german]);
    expect(await applyAs('one', realm({ ...own, body: 'Code: {{code}}' }))).toMatchObject({ code: 0 });
    expect(await applyAs('two', realm())).toMatchObject({ code: 0 });
    expect(await stored()).toEqual([{ ...own, body: 'Code: {{code}}', locale: 'und' }]);
    expect((await applyAs('one', realm(own, own))).code).not.toBe(0);
  });

  test('refuse a field that no kind has, naming it', async () => {
    await refuses(webhook('odd', { secretkeyref: {} }), 'spec.secretkeyref');
    await refuses(resource('Realm', 'odd', { realm: 'odd', settings: { displayNam: 'x' } }), 'displayNam');
    await refuses(resource('Realm', 'odd', { realm: 'odd', users: [] }), 'spec.users');
  });

  test('refuse a secret that stands in the resource', async () => {
    await refuses(webhook('literal', { secret: 'a signing secret of some length' }), 'spec.secret');
    const client = { clientId: 'app', secret: 'svc_cs_0123456789abcdefghijklmnop' };
    await refuses(resource('Realm', 'literal', { realm: 'literal', clients: [client] }), 'secret');
  });

  test('refuse values that the server would refuse, before anything is stored', async () => {
    await refuses(webhook('a', { url: undefined }), 'spec.url');
    await refuses(webhook('b', { eventTypes: [] }), 'spec.eventTypes');
    await refuses(webhook('c', { realm: 'No Name' }), 'spec.realm');
    await refuses(webhook('d', { deletionPolicy: 'Keep' }), 'spec.deletionPolicy', 'Retain');
    await refuses(flow('e', 1, { ...step, requirement: 'SOMETIMES' }), 'requirement');
    expect(await kubectl('get', 'webhooks', '-o', 'name')).not.toMatch(/\/[abcd]$/m);
  });

  test('refuse addresses, events, steps and thresholds that the server would refuse, in the server’s words', async () => {
    await refuses(
      webhook('plain', { url: 'http://receiver.example/' }),
      'spec.url',
      'must be an absolute https address',
    );
    await accepts(webhook('capitals', { url: 'HTTPS://receiver.example/' }));
    await refuses(webhook('event', { eventTypes: ['LOGIN_SUCCES'] }), 'spec.eventTypes[0]', 'LOGIN_SUCCES');
    await refuses(flow('unknown', 1, { ...step, authenticatorId: 'opt' }), 'spec.executions[0].authenticatorId');
    await refuses(flow('unknown', 4, { ...step, authenticatorId: 'opt' }), 'authenticatorId', 'Unsupported value');
    const client = (more: object) =>
      resource('Realm', 'refused', { realm: 'r', clients: [{ clientId: 'app', ...more }] });
    for (const field of ['redirectUris', 'postLogoutRedirectUris']) {
      await refuses(client({ [field]: ['https://app.example/*'] }), `spec.clients[0].${field}[0]`);
      await refuses(client({ [field]: ['https://app.example/#x'] }), `spec.clients[0].${field}[0]`);
      await refuses(client({ [field]: ['javascript:alert(1)'] }), `spec.clients[0].${field}[0]`, 'redirected to');
      await accepts(client({ [field]: ['https://app.example/back', 'com.example.app:/back'] }));
    }
    const bands = (medium: number, high: number) =>
      resource('Realm', 'bands', { realm: 'r', settings: { riskMediumThreshold: medium, riskHighThreshold: high } });
    await refuses(bands(70, 40), 'spec.settings', 'must not exceed');
    await accepts(bands(40, 40));
  });

  test.for([...kindNames])('keep the realm of a %s as it was created', async (kind) => {
    const named = (realm: string): Record<KindName, Manifest> => ({
      Realm: resource('Realm', 'fixed', { realm }),
      Flow: resource('Flow', 'fixed', { realm, executions: [step] }),
      Webhook: webhook('fixed', { realm }),
      WorkloadIdentity: identity('fixed', { realm, issuer: 'https://issuer.example', subject: 'me' }),
    });
    await accepts(named('one')[kind]);
    await refuses(named('two')[kind], 'spec.realm', 'immutable');
    const removed = await cluster.kubectl([
      ...['patch', plurals[kind], 'fixed', '--type=json'],
      ...['-p', '[{"op":"remove","path":"/spec/realm"}]'],
    ]);
    expect(removed.code).toBe(1);
  });

  test.for([1, 2, 3])('at level %i an execution is a step or a container, never both or neither', async (level) => {
    const both = { ...step, executions: [step] };
    await refuses(flow(`both-${level}`, level, both), 'exactly one of the two');
    await refuses(flow(`neither-${level}`, level, { requirement: 'REQUIRED' }), 'exactly one of the two');
    await accepts(flow(`step-${level}`, level, step));
    await accepts(flow(`holds-${level}`, level, { name: 'inner', requirement: 'CONDITIONAL', executions: [step] }));
  });

  test('the deepest level holds steps alone', async () => {
    await accepts(flow('deep', 4, step));
    await refuses(flow('nothing', 4, { requirement: 'REQUIRED' }), 'authenticatorId');
    await refuses(flow('deeper', 5, step), 'executions');
  });

  test('a workload is somebody: a subject of an issuer, or a ServiceAccount', async () => {
    await accepts(identity('foreign', { issuer: 'https://issuer.example', subject: 'repo:acme/app' }));
    await accepts(identity('local', { serviceAccountRef: { name: 'job' } }));
    await accepts(identity('local-issuer', { issuer: 'https://issuer.example', serviceAccountRef: { name: 'job' } }));
    await refuses(identity('nobody', {}), 'serviceAccountRef');
    await refuses(identity('half', { issuer: 'https://issuer.example' }), 'serviceAccountRef');
    await refuses(identity('two', { subject: 'me', serviceAccountRef: { name: 'job' } }), 'serviceAccountRef');
  });

  test.for([...kindNames])('explain what a %s is and what its fields mean', async (kind) => {
    const text = await kubectl('explain', `${plurals[kind]}.spec`);
    expect(text).toContain('Name of the realm on the server; immutable');
    expect(await kubectl('explain', plurals[kind])).toMatch(/DESCRIPTION:\s+\S+/);
    expect(await kubectl('explain', `${plurals[kind]}.status.conditions`)).toContain('lastTransitionTime');
  });

  test('explain a setting of a realm by its own words', async () => {
    expect(await kubectl('explain', 'realm.spec.settings.accessTokenTtlSeconds')).toMatch(/DESCRIPTION:\s+\S+/);
    expect(await kubectl('explain', 'realm.spec.clients.secretKeyRef.key')).toContain('Secret');
  });

  test('are found by the realm that they are about', async () => {
    await accepts(webhook('found', { realm: 'selected' }));
    for (const kind of kindNames) await kubectl('get', plurals[kind], '--field-selector', 'spec.realm=selected');
    const found = await kubectl('get', 'webhooks', '-A', '--field-selector', 'spec.realm=selected', '-o', 'name');
    expect(found).toBe('webhook.realmkeeper.dev/found\n');
  });

  test('a list answers the first question: whose, ready, and if not, why', async () => {
    await accepts(webhook('listed'));
    const status = {
      observedGeneration: 1,
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'Waiting',
          message: 'the Realm acme is not there',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    };
    const written = ['patch', 'webhook', 'listed', '--subresource=status', '--type=merge', '-p'];
    await kubectl(...written, JSON.stringify({ status }));
    const [head = '', row = ''] = (await kubectl('get', 'webhook', 'listed', '-o', 'wide')).trim().split('\n');
    expect(head).toMatch(/^NAME +REALM +.*READY +REASON +.*AGE$/);
    expect(row).toMatch(/^listed +acme +https:\/\/receiver.example\/ .*False +Waiting +the Realm acme is not there/);
    expect((await kubectl('get', 'webhook', 'listed')).split('\n')[0]).toMatch(/REALM +READY +REASON .*AGE/);
  });

  test('a new resource is not taken for finished before the operator has seen it', async () => {
    await accepts(webhook('new'));
    expect(await kubectl('get', 'webhook', 'new', '-o', 'jsonpath={.status}')).toBe('{"observedGeneration":-1}');
  });

  test('writing the spec leaves the status alone, and the status the spec and its generation', async () => {
    await accepts({ ...webhook('split'), status: { observedGeneration: 77 } });
    const read = () => kubectl('get', 'webhook', 'split', '-o', 'jsonpath={.metadata.generation} {.status}');
    expect(await read()).toBe('1 {"observedGeneration":-1}');
    const patch = JSON.stringify({ spec: { enabled: false }, status: { observedGeneration: 1 } });
    await kubectl('patch', 'webhook', 'split', '--subresource=status', '--type=merge', '-p', patch);
    expect(await read()).toBe('1 {"observedGeneration":1}');
    expect(await kubectl('get', 'webhook', 'split', '-o', 'jsonpath={.spec.enabled}')).toBe('');
  });
});
