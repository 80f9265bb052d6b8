// The environment and the arguments that the chart writes are ones that the programs take, in every value set.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type OperatorConfig, parseOperatorConfig } from '../../operator/config.ts';
import { type Config, parseConfig } from '../../server/config.ts';
import { type AnyObject, helmAssets, render, valueSets } from './helm.ts';

const assets = await helmAssets();
const Variable = z.object({ name: z.string(), value: z.string().optional() });
const Container = z.object({ args: z.array(z.string()), env: z.array(Variable) });
const Deployment = z.object({
  spec: z.object({ template: z.object({ spec: z.object({ containers: z.tuple([Container]) }) }) }),
});
const ConfigMap = z.object({ data: z.record(z.string(), z.string()) });

/** What a Secret would hold. */
const secrets: Record<string, string> = {
  DATABASE_URL: 'postgres://user:password@db.example.com/realmkeeper?sslmode=verify-full',
  PGUSER: 'user',
  PGPASSWORD: 'password',
  SVC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  SVC_BOOTSTRAP_ADMIN_PASSWORD: 'correct-horse-battery-staple',
  SVC_SIEM_AUTHORIZATION: 'Bearer abc',
  SVC_OPERATOR_CLIENT_SECRET: 'svc_cs_operator-of-the-tests-0123456789abcdef',
};
const named = (objects: AnyObject[], kind: string, name: string) =>
  objects.find((object) => object.kind === kind && object.metadata.name === `realmkeeper-${name}`);
function containerOf(objects: AnyObject[], name: string) {
  const [container] = Deployment.parse(named(objects, 'Deployment', name)).spec.template.spec.containers;
  const names = container.env.map((variable) => variable.name);
  expect(
    names.filter((each, at) => names.indexOf(each) !== at),
    'variables that are set twice',
  ).toEqual([]);
  const env = Object.fromEntries(container.env.map((each) => [each.name, each.value ?? secrets[each.name]]));
  return { env, args: container.args };
}
async function programs(args: string[]): Promise<{ server: Config; operator: OperatorConfig; env: object }> {
  const objects = await render(args);
  const { data } = ConfigMap.parse(named(objects, 'ConfigMap', 'server'));
  const env = { ...data, ...containerOf(objects, 'server').env };
  const operator = containerOf(objects, 'operator');
  const withPod = { ...operator.env, POD_NAMESPACE: 'identity' };
  return { server: parseConfig(env), operator: parseOperatorConfig(withPod, operator.args.slice(1)), env };
}

describe.skipIf(!assets.found)('the programs', () => {
  test.each(Object.entries(valueSets))('take what the chart gives them with the values %s', async (_, args) => {
    const { server, operator } = await programs(args);
    expect(server).toMatchObject({
      SVC_HOST: '0.0.0.0',
      NODE_ENV: 'production',
      SVC_OPERATOR_SUBJECT: 'system:serviceaccount:identity:realmkeeper-operator',
      SVC_OPERATOR_AUDIENCE: 'realmkeeper',
    });
    expect(operator).toMatchObject({
      servers: [{ url: 'http://realmkeeper-server.identity.svc:80' }],
      operatorNamespace: 'identity',
      leaderElection: { leaseName: 'realmkeeper-operator', leaseSeconds: 15 },
      listen: { host: '0.0.0.0', port: 8081 },
    });
  });

  test('the master key comes from the environment, a file or a custodian, and a custodian alone needs no Secret', async () => {
    const keysWith = async (...values: string[]) => {
      const args = values.flatMap((value) => ['--set', value]);
      const { server } = await programs(args);
      const secret = named(await render(args), 'Secret', 'master-key');
      return [
        server.SVC_MASTER_KEY !== undefined,
        server.SVC_MASTER_KEY_FILE,
        server.SVC_KEY_CUSTODIAN,
        secret !== undefined,
      ];
    };
    const custodian = 'hashivault://vault.example.com:8200/transit/realmkeeper';
    const also = [`masterKey.custodian=${custodian}`, 'server.env.SVC_VAULT_ROLE=realmkeeper'];
    expect(await keysWith('masterKey.source=file')).toEqual([
      false,
      '/etc/realmkeeper/master-key/master-key',
      undefined,
      true,
    ]);
    expect(await keysWith(...also)).toEqual([true, undefined, custodian, true]);
    expect(await keysWith('masterKey.source=custodian', ...also)).toEqual([false, undefined, custodian, false]);
    await expect(keysWith('masterKey.source=custodian')).rejects.toThrow('masterKey');
    const clouds = {
      'awskms://eu-central-1/alias/realmkeeper': 'AWS_ROLE_ARN=arn:aws:iam::111122223333:role/realmkeeper',
      'gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k': 'GOOGLE_APPLICATION_CREDENTIALS=/etc/google/key.json',
      'azurekeyvault://example.vault.azure.net/keys/realmkeeper/1a': 'AZURE_CLIENT_ID=realmkeeper',
    };
    for (const [cloud, variable] of Object.entries(clouds)) {
      const values = ['masterKey.source=custodian', `masterKey.custodian=${cloud}`, `server.env.${variable}`];
      expect(await keysWith(...values)).toEqual([false, undefined, cloud, false]);
    }
    // a ConfigMap is no place for a secret
    await expect(keysWith('server.env.AWS_SECRET_ACCESS_KEY=x')).rejects.toThrow('AWS_SECRET_ACCESS_KEY');
  });

  test('production: TLS to the database is checked, and the proxy is the one that was named', async () => {
    const { server } = await programs(valueSets.production ?? []);
    expect(server.DATABASE_URL).toBe(
      'postgres://postgres.example.com:5432/realmkeeper?sslmode=verify-full&sslrootcert=/etc/realmkeeper/database/ca.crt',
    );
    expect(server).toMatchObject({ baseUrl: 'https://id.example.com', SVC_TRUST_PROXY: ['10.20.30.0/28'] });
  });

  test('a pooler before several hosts: the server has both addresses, and each names its port', async () => {
    const { server } = await programs([
      ...(valueSets.production ?? []),
      ...['--set', 'database.host=pooler.example.com,database.port=6432,database.directPort=5433'],
      ...['--set-string', 'database.directHost=a.example.com\\,b.example.com'],
      ...['--set', 'database.preparedStatements=true'],
    ]);
    const tls = 'sslmode=verify-full&sslrootcert=/etc/realmkeeper/database/ca.crt';
    expect(server).toMatchObject({
      DATABASE_URL: `postgres://pooler.example.com:6432/realmkeeper?${tls}`,
      DATABASE_DIRECT_URL: `postgres://a.example.com:5433,b.example.com:5433/realmkeeper?${tls}&target_session_attrs=read-write`,
      SVC_DATABASE_PREPARED: true,
    });
  });

  test('mutual TLS: the listener has its files, and certificates come from the named proxies', async () => {
    const { server } = await programs(valueSets['everything that can be turned on'] ?? []);
    expect(server).toMatchObject({
      SVC_MTLS_PORT: 8443,
      SVC_MTLS_CERT_FILE: '/etc/realmkeeper/mutual-tls/tls.crt',
      SVC_MTLS_URL: 'https://mtls.example.com',
      SVC_CLIENT_CERT_HEADER: { form: 'nginx', name: 'x-client-cert' },
      SVC_CLIENT_CERT_PROXIES: ['10.0.0.0/8'],
    });
  });

  test('every setting of the operator reaches it', async () => {
    const settings = [
      'concurrency=9',
      'resyncMinutes=30',
      'undeclaredRealms=true',
      'realmNamespaces=team=identity\\,env!=dev',
      'realmNames=label:example.com/realms',
      'clusterName=here',
      'leaseDurationSeconds=30',
      'signIn.clientSecret.existingSecret=elsewhere',
      'serverUrl=https://id.example.com',
    ];
    const { operator, server } = await programs(['--set', settings.map((each) => `operator.${each}`).join(',')]);
    expect(operator).toMatchObject({
      concurrency: 9,
      resyncMs: 30 * 60_000,
      undeclaredRealms: true,
      realmNames: { by: 'label', label: 'example.com/realms' },
      clusterName: 'here',
      leaderElection: { leaseSeconds: 30 },
      servers: [{ url: 'https://id.example.com', credential: { secret: secrets.SVC_OPERATOR_CLIENT_SECRET } }],
    });
    expect(operator.realmNamespaces).toBeDefined();
    // that server is another one: ours trusts no operator
    expect(server.SVC_OPERATOR_SUBJECT).toBeUndefined();
  });

  test('an operator that comes by the public https address is still this release’s own, and knows its authority', async () => {
    const { server, operator, env } = await programs([
      ...['--set', 'server.baseUrl=https://id.example.com,operator.serverUrl=https://id.example.com/'],
      ...['--set', 'operator.serverCa.configMap=authorities'],
    ]);
    expect(operator.servers.map(({ url }) => url)).toEqual(['https://id.example.com']);
    expect(server.SVC_OPERATOR_SUBJECT).toBe('system:serviceaccount:identity:realmkeeper-operator');
    expect(env).not.toHaveProperty('NODE_EXTRA_CA_CERTS');
  });

  test('each server of the operator comes with its address and with credentials of its own', async () => {
    const eu = { name: 'eu', url: 'https://id.eu.example.com', audience: 'realmkeeper-eu', ca: { configMap: 'roots' } };
    const us = { name: 'us', url: 'http://us.other.svc:8080', clientSecret: { existingSecret: 'us', key: 'secret' } };
    const set = ['--set-json', `operator.servers=${JSON.stringify([eu, us])}`];
    const at = '/var/run/secrets/realmkeeper/servers';
    expect((await programs(set)).operator.servers.slice(1)).toEqual([
      { name: 'eu', url: eu.url, credential: { tokenFile: `${at}/eu/token` }, caFile: `${at}/eu/ca.crt` },
      { name: 'us', url: us.url, credential: { secretFile: `${at}/us/client-secret` }, caFile: undefined },
    ]);
    const operator = JSON.stringify(named(await render(set), 'Deployment', 'operator'));
    for (const word of [
      '"audience":"realmkeeper-eu"',
      '"configMap":{"name":"roots"',
      '"secret":{"name":"us","items":[{"key":"secret"',
    ])
      expect(operator).toContain(word);
  });

  test('a URL of one’s own, variables and the other address family reach the server as they are', async () => {
    const { server, env } = await programs([
      ...['--set', 'postgresql.enabled=false,database.existingSecret=mine,database.urlKey=uri,listenAddress=::'],
      ...['--set', 'server.env.SVC_WORKLOAD_RATE_LIMIT=120,server.passwordThreads=3,server.registration=true'],
      ...['--set', 'server.eventRetentionDays=365'],
      ...['--set', 'server.outboundAllow={10.1.0.0/16,hooks.internal}'],
      ...['--set', 'server.extraEnv[0].name=SVC_VAR_MAIL,server.extraEnv[0].value=x'],
    ]);
    expect(server).toMatchObject({
      DATABASE_URL: secrets.DATABASE_URL,
      SVC_HOST: '::',
      SVC_WORKLOAD_RATE_LIMIT: 120,
      SVC_PASSWORD_THREADS: 3,
      SVC_EVENT_RETENTION_DAYS: 365,
      USER_REGISTRATION_ENABLED: true,
      SVC_OUTBOUND_ALLOW: ['10.1.0.0/16', 'hooks.internal'],
      documentEnvironment: { SVC_VAR_MAIL: 'x' },
    });
    expect(env).not.toHaveProperty('PGPASSWORD');
  });
});
