// The operator's options: what each is when nobody says, and what is refused, in words that say what to do.
import { expect, test } from 'vitest';
import { BadConfiguration, parseOperatorConfig } from '../../operator/config.ts';

const env = { SVC_SERVER_URL: 'https://id.example.com/', SVC_OPERATOR_TOKEN_FILE: '/token' };
const parsed = (...args: string[]) => parseOperatorConfig(env, args);
function faultsOf(args: string[], more: Record<string, string> = {}): string {
  try {
    parseOperatorConfig({ ...env, ...more }, args);
  } catch (error) {
    if (error instanceof BadConfiguration) return error.message;
    throw error;
  }
  return 'no fault';
}

test('on a cluster it acts only while it holds a Lease, as long as nobody says otherwise', () => {
  expect(parsed().leaderElection).toEqual({ leaseName: 'realmkeeper-operator', leaseSeconds: 15 });
  // operators of two servers both act
  const named = parsed('--server-name', 'eu');
  expect([named.serverName, named.leaderElection?.leaseName]).toEqual(['eu', 'realmkeeper-operator-eu']);
  expect(parsed('--lease-name', 'other', '--lease-duration', '60').leaderElection).toEqual({
    leaseName: 'other',
    leaseSeconds: 60,
  });
  expect(parsed('--no-leader-elect').leaderElection).toBeUndefined();
});

test('a folder has no Lease', () => {
  expect(parsed('--manifests', 'realms').leaderElection).toBeUndefined();
  expect(faultsOf(['--manifests', 'realms', '--leader-elect'])).toContain('--leader-elect: a folder');
});

test('all namespaces are watched, or those that are named, each once', () => {
  expect(parsed().watchNamespaces).toEqual([]);
  const some = parsed('--watch-namespace', 'a', '--watch-namespace', 'b', '--watch-namespace', 'a', '--cluster-name=c');
  expect(some.watchNamespaces).toEqual(['a', 'b']);
});

test('what needs the whole cluster cannot be had together with --watch-namespace', () => {
  const faults = faultsOf(['--watch-namespace', 'a', '--realm-namespaces', 'team=identity']);
  expect(faults).toContain('--watch-namespace: needs --cluster-name too');
  expect(faults).toContain('--realm-namespaces: goes by labels of namespaces');
  expect(faultsOf(['--watch-namespace', 'a', '--manifests', 'realms'])).toContain('--manifests names a folder');
});

test('names of realms go by a namespace’s own name, or by a label of it, which needs the whole cluster', () => {
  expect(parsed().realmNames).toBeUndefined();
  expect(parsed('--realm-names', 'namespace').realmNames).toEqual({ by: 'namespace' });
  expect(parsed('--realm-names', 'label:a/b').realmNames).toEqual({ by: 'label', label: 'a/b' });
  const one = ['--watch-namespace', 'a', '--cluster-name', 'c', '--realm-names'];
  expect(faultsOf([...one, 'label:a/b'])).toContain('--realm-names: goes by labels of namespaces');
  expect(faultsOf([...one, 'namespace'])).toBe('no fault');
});

test.for([
  ['--realm-names', 'any', '--realm-names: must be "namespace", or "label:KEY"'],
  ['--realm-names', 'label:', '--realm-names: must be "namespace", or "label:KEY"'],
  ['--listen', 'nine', '--listen: must be HOST:PORT'],
  ['--listen', 'host:70000', '--listen: must be HOST:PORT'],
  ['--lease-duration', '2', '--lease-duration: must be 3 seconds or more'],
  ['--lease-duration', '15.5', '--lease-duration: must be whole seconds'],
  ['--lease-name', 'Not A Name', '--lease-name: must be a name'],
  ['--watch-namespace', 'kube_system', '--watch-namespace: must name a namespace'],
])('%s %s is refused', ([option, value, fault]) => {
  expect(faultsOf([option ?? '', value ?? ''])).toContain(fault);
});

test('metrics and probes are answered where an option or a variable says, and nowhere else', () => {
  expect(parsed().listen).toBeUndefined();
  expect(parsed('--listen', '[::1]:9090').listen).toEqual({ host: '::1', port: 9090 });
  const both = parseOperatorConfig({ ...env, SVC_OPERATOR_LISTEN: '0.0.0.0:1' }, []);
  expect(both.listen).toEqual({ host: '0.0.0.0', port: 1 });
  expect(faultsOf([], { SVC_OPERATOR_LISTEN: 'x' })).toContain('SVC_OPERATOR_LISTEN: must be HOST:PORT');
});
