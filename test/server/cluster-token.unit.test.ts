// The issuer of a cluster is read from the token that the cluster gave the server; nobody types it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { bootstrapOptions, clusterOf, parseConfig } from '../../server/config.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'cluster-token-'));
afterAll(() => rmSync(folder, { recursive: true }));
const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
function tokenOf(claims: object): string {
  const file = path.join(folder, `${Object.keys(claims).join('-')}-token`);
  writeFileSync(file, `${encoded({ alg: 'RS256' })}.${encoded(claims)}.AAAA\n`);
  return file;
}
const config = (env: Record<string, string>) => parseConfig({ SVC_CLUSTER_CA_FILE: '/ca.crt', ...env });
const iss = 'https://issuer.example/cluster';
const operator = { SVC_OPERATOR_SUBJECT: 'system:serviceaccount:a:b', SVC_OPERATOR_AUDIENCE: 'here' };

test('names the cluster’s issuer, and the operator’s', () => {
  const read = config({ SVC_CLUSTER_TOKEN_FILE: tokenOf({ iss }), ...operator });
  expect(clusterOf(read)).toMatchObject({ issuer: iss, caFile: '/ca.crt' });
  expect(bootstrapOptions(read).operator.identity).toMatchObject({ issuer: iss, audience: 'here' });
});

test('gives way to an issuer that was set', () => {
  const set = 'https://other.example';
  const read = config({ SVC_CLUSTER_TOKEN_FILE: tokenOf({ iss }), SVC_OPERATOR_ISSUER: set, ...operator });
  expect([clusterOf(read)?.issuer, bootstrapOptions(read).operator.identity?.issuer]).toEqual([set, set]);
});

test('a cluster that is known by its CA alone has the name that every cluster has', () => {
  expect(clusterOf(config({}))?.issuer).toBe('https://kubernetes.default.svc');
});

test.each([
  ['without an issuer', () => tokenOf({ sub: 'x' })],
  ['of an issuer by plain http', () => tokenOf({ iss: 'http://issuer.example', jti: '1' })],
  ['that is not there', () => path.join(folder, 'nowhere')],
])('a token %s is told at the start, with its file and without its content', (_, file) => {
  const read = config({ SVC_CLUSTER_TOKEN_FILE: file() });
  expect(() => clusterOf(read)).toThrow(/^SVC_CLUSTER_TOKEN_FILE: \S+ holds no ServiceAccount token/);
});

test('an operator’s subject needs an issuer from somewhere', () => {
  expect(() => parseConfig(operator)).toThrow('SVC_OPERATOR_ISSUER: is needed too');
});
