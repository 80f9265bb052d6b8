// Which cluster the operator means, and what it says where that can't be known.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connect } from '../../operator/source/api.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-kubeconfig-'));
  for (const name of ['HOME', 'USERPROFILE']) vi.stubEnv(name, folder);
  for (const name of ['KUBECONFIG', 'KUBERNETES_SERVICE_HOST', 'HOMEDRIVE']) vi.stubEnv(name, undefined);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

async function file(name: string, text: string): Promise<string> {
  await writeFile(path.join(folder, name), text);
  return path.join(folder, name);
}
const cluster = 'clusters: [{name: a, cluster: {server: https://a.example}}]\n';
const context = 'contexts: [{name: a, context: {cluster: a, user: a}}]\nusers: [{name: a}]\ncurrent-context: a\n';

test('no configuration at all is no cluster at a default address', () => {
  expect(() => connect(undefined)).toThrow(/no cluster is configured: set KUBECONFIG, or .*--manifests/);
});

test('a file that is not there, or is none, is named with its variable', async () => {
  expect(() => connect('/nowhere/config')).toThrow('KUBECONFIG: /nowhere/config cannot be read');
  const garbage = await file('garbage', 'a: [');
  expect(() => connect(garbage)).toThrow(`KUBECONFIG: ${garbage} cannot be read`);
});

test('a context that names no cluster is one file’s fault, and several files make one configuration', async () => {
  const [first, second] = [await file('first', context), await file('second', cluster)];
  expect(() => connect(first)).toThrow('no current context that names a cluster');
  expect(() => connect([first, second].join(path.delimiter))).not.toThrow();
});
