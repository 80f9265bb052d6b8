// `realmctl status` on a real API server: how a realm stands with all that hangs on it, and why what waits waits.
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { run } from '../kubernetes/processes.ts';
import { landscape } from '../support/landscape.ts';
import { eventually, resource, secret } from '../support/operator.ts';
import { realmctl } from '../support/realmctl.ts';

const assets = await clusterAssets();

describe.skipIf(!assets.found)('realmctl status', () => {
  const land = landscape();
  let bin: string;
  beforeAll(async () => {
    bin = await mkdtemp(path.join(os.tmpdir(), 'realmctl-path-'));
    if (assets.found) await symlink(path.join(assets.dir, 'kubectl'), path.join(bin, 'kubectl'));
  });
  afterAll(() => rm(bin, { recursive: true, force: true }));

  const status = (...args: string[]) =>
    realmctl({ PATH: `${bin}:${process.env.PATH}`, KUBECONFIG: land.cluster.kubeconfig, HOME: bin }, [
      'status',
      ...args,
    ]);
  const clients = [{ clientId: 'web', grantTypes: ['client_credentials'], secretKeyRef: { name: 'late', key: 'web' } }];
  const hook = resource('Webhook', 'audit', {
    realm: 'acme',
    url: 'https://receiver.example.com/',
    eventTypes: ['KEY_DELETED'],
  });

  test('nothing of ours is no fault', async () => {
    expect(await status()).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('no resources') });
  });

  test('what waits says for what, down to its cause, until that is there', async () => {
    await land.apply(resource('Realm', 'here', { realm: 'acme', clients }), hook);
    await eventually(async () => {
      const { code, stdout } = await status('realm', 'acme');
      const cause = 'Realm default/here: SecretMissing: waiting for the Secret late in the namespace default';
      expect(stdout).toContain(`✗ ${cause}`);
      expect(stdout).toContain(`✗ Webhook default/audit: RealmMissing: `);
      expect(stdout).toContain(`      because ${cause}`);
      expect(code).toBe(1);
    });
    await land.apply(secret('late', { web: 'a-secret-of-the-client-0123456789' }));
    await eventually(async () => {
      const { code, stdout } = await status('realm', 'here');
      expect(stdout).toContain('✓ Realm default/here: Applied');
      expect(stdout).toContain('✓ Webhook default/audit: Applied');
      expect(code).toBe(0);
    });
    const { stdout } = await status('-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject([
      { kind: 'Realm', name: 'here', ready: true, because: [] },
      { kind: 'Webhook', name: 'audit', ready: true },
    ]);
  });

  test('a conflict names the resource that has it, and how that stands', async () => {
    const { metadata, ...rest } = hook;
    await land.apply({
      ...rest,
      metadata: { ...metadata, name: 'second' },
      spec: { ...Object(rest.spec), name: 'audit' },
    });
    await eventually(async () => {
      const { code, stdout } = await status('webhook', 'second', '-n', 'default');
      expect(stdout).toMatch(/✗ Webhook default\/second: Conflict: .*\n {6}because Webhook default\/audit: Applied/);
      expect(code).toBe(1);
    });
  });

  test('what is not there, a cluster that refuses and a missing kubectl are told', async () => {
    expect(await status('realm', 'nowhere')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no Realm nowhere'),
    });
    const nobody = await status('--kubeconfig', await land.cluster.user('nobody'));
    expect(nobody).toMatchObject({ code: 2, stderr: expect.stringContaining('forbidden') });
    const empty = await mkdtemp(path.join(os.tmpdir(), 'realmctl-empty-'));
    const without = await realmctl({ PATH: empty, HOME: empty }, ['status']);
    expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('kubectl was not found') });
    await rm(empty, { recursive: true });
  });

  test('as a plugin of kubectl, by the name that it looks for', async () => {
    const program = path.resolve(import.meta.dirname, '../../cli/main.ts');
    const script = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`;
    await writeFile(path.join(bin, 'kubectl-realmkeeper'), script, { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env.PATH}`, HOME: bin, KUBECONFIG: land.cluster.kubeconfig };
    const { code, stdout } = await run(path.join(bin, 'kubectl'), ['realmkeeper', 'status', 'realm', 'acme'], { env });
    expect(stdout).toContain('✓ Realm default/here: Applied');
    // the webhook in conflict
    expect(code).toBe(1);
    const { bin: named } = JSON.parse(await readFile(path.resolve(import.meta.dirname, '../../package.json'), 'utf8'));
    expect(named['kubectl-realmkeeper']).toBe(named.realmctl);
    for (const command of ['plan', 'history']) {
      const help = await run(path.join(bin, 'kubectl'), ['realmkeeper', command, '--help'], { env });
      expect(help.code).toBe(0);
      expect(help.stdout).toContain('Usage: realmctl');
    }
  });
});
