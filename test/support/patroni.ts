// Owns: a cluster of PostgreSQL that changes its leader by itself: Patroni with etcd, synchronous, behind HAProxy, all Debian's.
// Does not own: what is asked of it meanwhile (load.ts), PostgreSQL alone (cluster.ts).
// Implements: tests of high availability. Every way between two programs is a relay, so that a node can be cut off without root.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startGuard } from '../kubernetes/processes.ts';
import { freePort } from './free-port.ts';
import { installPackages } from './packages.ts';
import { type Relay, startRelay } from './relay.ts';

const execute = promisify(execFile);
const PACKAGES = ['etcd-server', 'haproxy', 'patroni', 'pgbouncer', 'postgresql'];
const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/bin'].filter(Boolean);
const found = (name: string) => folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
const POSTGRES = '/usr/lib/postgresql';

/** The folder of PostgreSQL's newest programs; undefined: there is none. */
function binaries(): string | undefined {
  if (!existsSync(POSTGRES)) return undefined;
  const versions = readdirSync(POSTGRES).sort((a, b) => Number(b) - Number(a));
  return versions.map((one) => path.join(POSTGRES, one, 'bin')).find((bin) => existsSync(path.join(bin, 'initdb')));
}
const isComplete = () => ['etcd', 'haproxy', 'patroni', 'pgbouncer'].every(found) && binaries() !== undefined;

/** Installs Debian's packages where one is missing and root's rights can be had, else throws. */
export async function obtainPatroni(log: (message: string) => void = () => {}): Promise<void> {
  if (isComplete()) return;
  log(`patroni: installing ${PACKAGES.join(', ')}`);
  await installPackages(PACKAGES, { missing: `not all are there: Debian’s ${PACKAGES.join(', ')}`, log });
  if (!isComplete()) throw new Error(`of ${PACKAGES.join(', ')} a program is missing`);
}

const root = process.getuid?.() === 0;
const NOBODY = 65_534;
/** PostgreSQL refuses to run as root. */
const asNobody = root ? { uid: NOBODY, gid: NOBODY } : {};

/** Runs until it is ended, also when this process ends. */
function run(folder: string, name: string, [command = '', ...args]: string[], guard: ReturnType<typeof startGuard>) {
  const log = openSync(path.join(folder, `${name}.log`), 'a');
  const env = { PATH: folders.join(path.delimiter), HOME: folder, LC_ALL: 'C.UTF-8', ETCD_UNSUPPORTED_ARCH: 'arm64' };
  const child = spawn(found(command) ?? command, args, { ...asNobody, cwd: folder, env, stdio: ['ignore', log, log] });
  guard.watch(child);
  return child;
}
async function end(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** One PostgreSQL and the Patroni that minds it. */
export interface Node {
  name: string;
  /** Of its PostgreSQL, by the way that clients take. */
  port: number;
  folder: string;
  /** Kills both at once. */
  kill(): Promise<void>;
  /** Lets both sleep, with all their processes. */
  freeze(): void;
  thaw(): void;
  /** Cuts it off: from etcd, from the others and from clients. Neither end is told. */
  cutOff(): void;
  rejoin(): void;
  start(): Promise<void>;
  /** Whether Patroni says that it leads. */
  leads(): Promise<boolean>;
}

export interface PatroniCluster {
  nodes: readonly Node[];
  /** By HAProxy, which sends each connection to the leader. */
  proxied: string;
  /** By the addresses of all nodes. */
  several: string;
  /** As the database's superuser, on one node. */
  superuser(node: Node): string;
  leader(): Promise<Node>;
  /** Until one leads and another is its synchronous standby. @returns the leader */
  settled(): Promise<Node>;
  /** Hands the lead over in peace. */
  switchOver(from: Node, to: Node): Promise<void>;
  stop(): Promise<void>;
}

const DATABASE = 'realmkeeper';
const PASSWORD = randomBytes(12).toString('hex');

/** @param megabytes each node's data lies in a file system of its own of this size, in memory; needs root's rights */
export async function startPatroni({ megabytes }: { megabytes?: number } = {}): Promise<PatroniCluster> {
  const bin = binaries() ?? '';
  // not under a home directory, which nobody could not enter
  const folder = await mkdtemp('/tmp/patroni-');
  const cleanup = path.join(folder, 'cleanup.sh');
  await writeFile(
    cleanup,
    `for file in "$1"/*/data/postmaster.pid; do kill -9 "$(head -n 1 "$file")"; done
sleep 1
for mounted in "$1"/*/; do umount "$mounted"; done 2>/dev/null
`,
  );
  await chmod(folder, 0o755);
  if (root) await chown(folder, NOBODY, NOBODY);
  const guard = startGuard(folder, cleanup);
  const [etcdPort, peerPort, proxyPort] = [await freePort(), await freePort(), await freePort()];
  const [etcdUrl, peerUrl] = [`http://127.0.0.1:${etcdPort}`, `http://127.0.0.1:${peerPort}`];
  const etcd = run(
    folder,
    'etcd',
    [
      'etcd',
      '--enable-v2',
      ...['--data-dir', path.join(folder, 'etcd'), '--name', 'etcd'],
      ...['--listen-client-urls', etcdUrl, '--advertise-client-urls', etcdUrl],
      ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
      ...['--initial-cluster', `etcd=${peerUrl}`],
    ],
    guard,
  );
  await until(async () => (await fetch(`${etcdUrl}/health`)).ok);

  const relays: Relay[] = [];
  const relayTo = async (port: number): Promise<Relay> => {
    const relay = await startRelay(port);
    relays.push(relay);
    return relay;
  };

  async function makeNode(name: string): Promise<Node & { rest: number; live: number }> {
    const home = path.join(folder, name);
    const data = path.join(home, 'data');
    await mkdir(home, { mode: 0o700 });
    if (megabytes !== undefined) await execute('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', home]);
    if (root) await chown(home, NOBODY, NOBODY);
    const [own, ownRest] = [await freePort(), await freePort()];
    const [store, database, rest] = [await relayTo(etcdPort), await relayTo(own), await relayTo(ownRest)];
    const file = path.join(folder, `${name}.json`);
    const user = (username: string) => ({ username, password: PASSWORD });
    const configuration = {
      scope: 'realmkeeper',
      name,
      restapi: { listen: `127.0.0.1:${ownRest}`, connect_address: `127.0.0.1:${rest.port}` },
      // by etcd's second interface: Patroni 3.0 keeps an old copy of what it reads by the third after it was cut off
      etcd: { hosts: [`127.0.0.1:${store.port}`], use_proxies: true },
      bootstrap: {
        dcs: {
          ttl: 10,
          loop_wait: 1,
          retry_timeout: 3,
          // a leader that has crashed is not waited for
          primary_start_timeout: 0,
          synchronous_mode: true,
          postgresql: {
            use_pg_rewind: true,
            parameters: {
              max_connections: 60,
              max_wal_size: '96MB',
              min_wal_size: '32MB',
              wal_keep_size: '32MB',
              wal_log_hints: 'on',
            },
          },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
      },
      postgresql: {
        listen: `127.0.0.1:${own}`,
        connect_address: `127.0.0.1:${database.port}`,
        data_dir: data,
        bin_dir: bin,
        pgpass: path.join(folder, `${name}.pgpass`),
        authentication: { superuser: user('postgres'), replication: user('replicator'), rewind: user('rewinder') },
        parameters: { unix_socket_directories: folder },
        pg_hba: [
          'local all all trust',
          'host all all 127.0.0.1/32 scram-sha-256',
          'host replication all 127.0.0.1/32 scram-sha-256',
        ],
      },
      tags: {},
    };
    await writeFile(file, JSON.stringify(configuration));
    let patroni: ChildProcess | undefined;
    const postmaster = (): number | undefined => {
      const pid = path.join(data, 'postmaster.pid');
      return existsSync(pid) ? Number(readFileSync(pid, 'utf8').split('\n')[0]) : undefined;
    };
    const signal = (name: NodeJS.Signals) => {
      patroni?.kill(name);
      const server = postmaster();
      for (const pid of server === undefined ? [] : [server, ...childrenOf(server)]) killQuietly(pid, name);
    };
    return {
      name,
      port: database.port,
      rest: rest.port,
      live: ownRest,
      folder: home,
      async start() {
        patroni = run(folder, name, ['patroni', file], guard);
      },
      async kill() {
        signal('SIGKILL');
        await end(patroni);
      },
      freeze: () => signal('SIGSTOP'),
      thaw: () => signal('SIGCONT'),
      cutOff: () => [store, database, rest].forEach((relay) => void relay.freeze()),
      rejoin: () => [store, database, rest].forEach((relay) => void relay.thaw()),
      leads: async () =>
        (await fetch(`http://127.0.0.1:${rest.port}/primary`, { signal: AbortSignal.timeout(500) })).ok,
    };
  }

  const nodes = [await makeNode('one'), await makeNode('two')];
  const proxyFile = path.join(folder, 'haproxy.cfg');
  await writeFile(proxyFile, proxyConfiguration(proxyPort, nodes));
  const urlOf = (hosts: string, more = '') => `postgres://${DATABASE}:${PASSWORD}@${hosts}/${DATABASE}${more}`;
  const superuser = ({ port }: Node) => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${DATABASE}`;

  async function leader(): Promise<Node> {
    const leads = await Promise.all(nodes.map((node) => node.leads().catch(() => false)));
    const one = nodes[leads.indexOf(true)];
    if (!one) throw new Error('nobody leads');
    return one;
  }
  async function settled(): Promise<Node> {
    await until(async () => {
      const live = nodes[0]?.live;
      const { members = [] } = Object(await (await fetch(`http://127.0.0.1:${live}/cluster`)).json());
      const roles: string[] = members.map((one: { role: string; state: string }) => `${one.role} ${one.state}`);
      return roles.includes('leader running') && roles.some((role) => /^sync_standby (running|streaming)$/.test(role));
    });
    return leader();
  }
  const stop = async () => {
    for (const node of nodes) {
      node.thaw();
      await node.kill();
    }
    await end(proxy);
    await end(etcd);
    await Promise.all(relays.map((relay) => relay.stop()));
    for (const node of megabytes === undefined ? [] : nodes)
      await until(() =>
        execute('umount', [node.folder]).then(
          () => true,
          () => false,
        ),
      );
    await rm(folder, { recursive: true, force: true });
    guard.release();
  };
  let proxy: ChildProcess | undefined;
  try {
    for (const node of nodes) {
      await node.start();
      if (node === nodes[0]) await until(() => node.leads());
    }
    const first = await settled();
    await execute(
      path.join(bin, 'psql'),
      ['-v', 'ON_ERROR_STOP=1', '-d', superuser(first).replace(/[^/]*$/, 'postgres'), '-c'].concat(
        `create role ${DATABASE} login password '${PASSWORD}'`,
        '-c',
        `create database ${DATABASE} owner ${DATABASE}`,
      ),
    );
    proxy = run(folder, 'haproxy', ['haproxy', '-db', '-f', proxyFile], guard);
  } catch (error) {
    const logs = await Promise.all(nodes.map(({ name }) => readFile(path.join(folder, `${name}.log`), 'utf8')));
    await stop();
    throw new Error(logs.map((log) => log.slice(-3000)).join('\n—\n'), { cause: error });
  }
  return {
    nodes,
    proxied: urlOf(`127.0.0.1:${proxyPort}`),
    several: urlOf(nodes.map(({ port }) => `127.0.0.1:${port}`).join(), '?target_session_attrs=read-write'),
    superuser,
    leader,
    settled,
    async switchOver(from, to) {
      const { live } = nodes.find(({ name }) => name === from.name) ?? { live: 0 };
      const body = JSON.stringify({ leader: from.name, candidate: to.name });
      const answer = await fetch(`http://127.0.0.1:${live}/switchover`, { method: 'POST', body });
      if (!answer.ok) throw new Error(`switchover: ${answer.status} ${await answer.text()}`);
    },
    stop,
  };
}

/** As docs/high-availability.md has it. */
const proxyConfiguration = (port: number, nodes: readonly { name: string; port: number; rest: number }[]) => `
defaults
  mode tcp
  timeout connect 2s
  timeout client 30m
  timeout server 30m
  timeout check 1s
listen primary
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${nodes.map((node) => `  server ${node.name} 127.0.0.1:${node.port} check port ${node.rest}`).join('\n')}
`;

function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ').filter(Boolean).map(Number) : [];
}
function killQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended
  }
}

/** @throws Error if it does not come true within two minutes */
export async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 120_000;
  let last: unknown;
  for (;;) {
    const answer = await isTrue().catch((error: unknown) => {
      last = error;
      return false;
    });
    if (answer) return;
    if (Date.now() > deadline) throw new Error('it did not come true', { cause: last });
    await sleep(100);
  }
}
