// Owns: `realmctl validate` as a process: no server, no session, exit codes, output for people and for programs.
// Does not own: which faults there are (declared.unit.test.ts).
// Implements: docs/cli.md: validate -f, offline, against the schemas.
import path from 'node:path';
import { expect, test } from 'vitest';
import { realmctl } from '../support/realmctl.ts';

const examples = path.resolve(import.meta.dirname, '../../crds/examples');

test('what is valid is exit code 0, with no server configured', async () => {
  const { code, stdout, stderr } = await realmctl({}, ['validate', '-f', examples]);
  expect([code, stdout]).toEqual([0, '']);
  expect(stderr).toContain('Valid: Secret, Realm, Flow, Webhook, WorkloadIdentity.');
});

test('a Secret that is in none of the files is a warning', async () => {
  const spec = '{realm: acme, clients: [{clientId: web, secretKeyRef: {name: web, key: secret}}]}';
  const stdin = `apiVersion: realmkeeper.dev/v1alpha1\nkind: Realm\nmetadata: {name: acme}\nspec: ${spec}\n`;
  const { code, stderr } = await realmctl({}, ['validate', '-f', '-'], { stdin });
  expect(code).toBe(0);
  expect(stderr).toMatch(/^Warning: stdin: Realm default\/acme: the Secret default\/web .*\nValid, but for Secrets/);
});

test('a fault is exit code 2, for people a line, for programs a list', async () => {
  const stdin = 'realm:\n  requireMfa: perhaps\n';
  const people = await realmctl({}, ['validate', '-f', '-'], { stdin });
  expect(people.code).toBe(2);
  expect(people.stdout).toMatch(/^stdin:2: realm document: realm\.requireMfa: must be true or false/);
  const programs = await realmctl({}, ['validate', '-f', '-', '-o', 'json'], { stdin });
  expect(programs.code).toBe(2);
  expect(JSON.parse(programs.stdout)).toMatchObject({
    valid: false,
    faults: [{ file: 'stdin', line: 2, document: 1, path: 'realm.requireMfa' }],
  });
});

test('a file’s words cannot steer the terminal', async () => {
  const stdin = 'apiVersion: realmkeeper.dev/v1alpha1\nkind: Realm\nmetadata: {name: x}\nspec: {"\\e[2Jx": 1}\n';
  const { stdout } = await realmctl({}, ['validate', '-f', '-'], { stdin });
  expect(stdout).not.toContain('\u001b');
  expect(stdout).toContain('\\u001b[2Jx');
});

test('a ServiceAccount of the cluster is valid without knowing the cluster', async () => {
  const spec = '{realm: acme, serviceAccountRef: {name: orders}, audience: realmkeeper, clientId: orders}';
  const stdin = `apiVersion: realmkeeper.dev/v1alpha1\nkind: WorkloadIdentity\nmetadata: {name: orders}\nspec: ${spec}\n`;
  expect(await realmctl({}, ['validate', '-f', '-'], { stdin })).toMatchObject({ code: 0, stdout: '' });
});
