// Owns: which of several hosts of a database takes writes, and the end of connections to one that was replaced.
// Does not own: the addresses (hosts.ts), a single silent peer (dead-peer.ts).
// Implements: docs/high-availability.md "Several hosts".
import type { Socket } from 'node:net';
import pg from 'pg';
import { KEEP_ALIVE, peerTimeout } from './dead-peer.ts';
import { unreachable } from './unreachable.ts';

export interface Address {
  host: string;
  port: number;
}

const PROBE_MS = 2_000;
/** For so long the host that was found is taken without another look. */
const FRESH_MS = 1_000;
const TICK_MS = 500;
/** After which silence of a connection with a statement under way the hosts are asked. */
const SILENT_MS = 1_500;

const addressOf = (url: string): Address => {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[(.+)\]$/, '$1'), port: Number(port || 5432) };
};
const isSame = (one: Address, other: Address): boolean => one.host === other.host && one.port === other.port;

/** @throws Error if the host can't be reached or takes no writes */
async function probe(url: string): Promise<Address> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'realmkeeper-hosts',
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
    ...KEEP_ALIVE,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ writes: boolean }>(
      `select not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' as writes`,
    );
    if (!rows[0]?.writes) throw Object.assign(new Error('this host takes no writes'), { code: '25006' });
    return addressOf(url);
  } finally {
    void client.end().catch(() => {});
  }
}

/** The host that takes writes. @throws a fault that waiting does not mend, such as a wrong password, before any other */
async function find(hosts: readonly string[]): Promise<Address> {
  try {
    return await Promise.any(hosts.map(probe));
  } catch (error) {
    const failures: unknown[] = error instanceof AggregateError ? error.errors : [error];
    const lasting = failures.find((failure) => !unreachable(failure) && !isBusy(failure));
    if (lasting) throw lasting;
    throw Object.assign(new Error('no host of the database takes writes'), { code: '25006', cause: failures[0] });
  }
}
/** Has no room for one more connection now, or the probe's time was over. */
const isBusy = (failure: unknown): boolean =>
  failure instanceof Error && (Object(failure).code === '53300' || failure.message === 'Query read timeout');

interface Watched {
  address: Address;
  read: number;
  written: number;
  silentSince: number | undefined;
}

function createPrimary(hosts: readonly string[]) {
  const sockets = new Map<Socket, Watched>();
  let found: { address: Address; until: number } | undefined;
  let finding: Promise<Address> | undefined;
  let ticking: NodeJS.Timeout | undefined;

  function look(): Promise<Address> {
    finding ??= find(hosts)
      .then((address) => {
        found = { address, until: performance.now() + FRESH_MS };
        // What listens there would hear nothing any more, and what waits there would wait for long.
        for (const [socket, watched] of sockets) if (!isSame(watched.address, address)) socket.destroy(peerTimeout());
        return address;
      })
      .finally(() => {
        finding = undefined;
      });
    return finding;
  }

  /** Connections on which something was sent and nothing has come back for a while. */
  function isAnySilent(now: number): boolean {
    let silent = false;
    for (const [socket, watched] of sockets) {
      const { bytesRead, bytesWritten } = socket;
      if (bytesRead !== watched.read) watched.silentSince = undefined;
      else if (bytesWritten !== watched.written) watched.silentSince ??= now;
      watched.read = bytesRead;
      watched.written = bytesWritten;
      if (watched.silentSince !== undefined && now - watched.silentSince > SILENT_MS) silent = true;
    }
    return silent;
  }
  function tick(): void {
    const now = performance.now();
    if (isAnySilent(now) && (found?.until ?? 0) < now) look().catch(() => {});
  }

  return {
    /** @throws Error if there is none */
    address: async (): Promise<Address> => (found && found.until > performance.now() ? found.address : look()),
    /** Ends the socket when another host is found to take the writes. */
    watch(socket: Socket, address: Address): void {
      sockets.set(socket, { address, read: 0, written: 0, silentSince: undefined });
      ticking ??= setInterval(tick, TICK_MS).unref();
      socket.once('error', () => {
        found = undefined;
      });
      socket.once('close', () => {
        sockets.delete(socket);
        if (sockets.size > 0) return;
        clearInterval(ticking);
        ticking = undefined;
      });
    },
  };
}
export type Primary = ReturnType<typeof createPrimary>;

const known = new Map<string, Primary>();
/** One for all connections of the process to these hosts. */
export function primaryOf(hosts: readonly string[]): Primary {
  const key = hosts.join();
  let primary = known.get(key);
  if (!primary) {
    primary = createPrimary(hosts);
    known.set(key, primary);
  }
  return primary;
}
