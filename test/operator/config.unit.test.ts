// The operator's options: what each is when nobody says, and what is refused, in words that say what to do.
import { expect, test } from 'vitest';
import { BadConfiguration, misspelt, parseOperatorConfig } from '../../operator/config.ts';

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
  expect([named.servers[0]?.name, named.leaderElection?.leaseName]).toEqual(['eu', 'realmkeeper-operator-eu']);
  expect(parsed('--lease-name', 'other', '--lease-duration', '60').leaderElection).toEqual({
    leaseName: 'other',
    leaseSeconds: 60,
  });
  expect(parsed('--no-leader-elect').leaderElection).toBeUndefined();
});

test('several servers each have a name, an address and credentials of their own, beside a default one or without it', () => {
  const [eu, us] = ['eu=https://id.eu.example.com/,token-file=/eu/token', 'us=http://us.svc:80,client-secret-file=/us'];
  const beside = parsed('--server', `${eu},ca-file=/eu/ca.crt`, '--server', us ?? '');
  expect(beside.leaderElection?.leaseName).toBe('realmkeeper-operator');
  expect(beside.servers).toEqual([
    { name: undefined, url: 'https://id.example.com', credential: { tokenFile: '/token' }, caFile: undefined },
    { name: 'eu', url: 'https://id.eu.example.com', credential: { tokenFile: '/eu/token' }, caFile: '/eu/ca.crt' },
    { name: 'us', url: 'http://us.svc:80', credential: { secretFile: '/us' }, caFile: undefined },
  ]);
  const alone = parseOperatorConfig({}, ['--server', eu ?? '', '--server', us ?? '']);
  expect(alone.servers.map(({ name }) => name)).toEqual(['eu', 'us']);
  expect(alone.leaderElection?.leaseName).toBe('realmkeeper-operator-eu-us');
});

test.for([
  ['eu=https://id.example.com', '--server: eu: needs one of token-file=FILE and client-secret-file=FILE'],
  ['eu=https://id.example.com,token-file=/a,client-secret-file=/b', '--server: eu: needs one of'],
  ['eu=id.example.com,token-file=/a', '--server: eu: url: must be the server’s address'],
  ['Eu=https://id.example.com,token-file=/a', '--server: Eu: name: must be a-z, digits and -'],
  ['eu=https://id.example.com,secret=x', 'eu: '],
  ['eu', '--server: "eu" is not of the form NAME=VALUE'],
])('--server %s is refused', ([value, fault]) => {
  expect(faultsOf(['--server', value ?? ''])).toContain(fault);
});

test('what a server lacks, and what belongs to none, is told at once', () => {
  const eu = 'eu=https://id.example.com,token-file=/a';
  expect(faultsOf(['--server', eu, '--server', eu])).toContain('--server: eu is there twice');
  const without = faultsOf(['--server', eu, '--server-name', 'us'], { SVC_SERVER_URL: '' });
  expect(without).toContain('each --server has its own');
  expect(without).toContain('--server-name: names the server of SVC_SERVER_URL');
  const nothing = faultsOf([], { SVC_SERVER_URL: '', SVC_OPERATOR_TOKEN_FILE: '' });
  expect(nothing).toContain('SVC_SERVER_URL: is required, or --server');
  expect(nothing).toContain('set one of SVC_OPERATOR_CLIENT_SECRET and SVC_OPERATOR_TOKEN_FILE');
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

test('misspelt variables are named, and those of a server in the same environment are not', () => {
  const shared = { SVC_MASTER_KEY: 'x', SVC_PORT: '8080', SVC_LOG_LEVEL: 'info', SVC_VAR_BILLING: 'x' };
  const wrong = { SVC_OPERATOR_SECRET: 'x', SVC_SERVERURL: 'x', SVC_OPERATOR_TOKENFILE: 'x' };
  expect(misspelt({ ...env, ...shared, ...wrong })).toEqual([
    { variable: 'SVC_SERVERURL', meant: 'SVC_SERVER_URL' },
    { variable: 'SVC_OPERATOR_TOKENFILE', meant: 'SVC_OPERATOR_TOKEN_FILE' },
  ]);
});
