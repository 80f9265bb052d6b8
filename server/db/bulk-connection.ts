// A connection of postgres.js for one bulk stream (bulk.ts). postgres.js has no timeout for a dead peer, so this file
// makes the socket. Each stream sets how long it waits.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import postgres from 'postgres';
import { KEEP_ALIVE, limitWait, peerTimeout } from './dead-peer.ts';
import { hostsOf, tlsOf, withoutTls } from './hosts.ts';

const CONNECT_MS = 10_000;

/** The address as postgres.js has parsed it. */
interface Address {
  host: string[];
  port: number[];
  path: string | false;
}

async function dial({ host, port, path }: Address, hosts: readonly string[]): Promise<Socket> {
  const primary = hosts.length > 1 ? (await import('./primary.ts')).primaryOf(hosts) : undefined;
  const wanted = primary ? await primary.address() : { host: host[0] ?? '', port: port[0] ?? 0 };
  const to = path && !primary ? { path } : wanted;
  // postgres.js asks the socket for the host that a certificate must name
  const socket = Object.assign(connect({ ...to, ...KEEP_ALIVE }), to);
  primary?.watch(socket, wanted);
  await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) }).catch((error: Error) => {
    socket.destroy();
    throw error.name === 'AbortError' ? peerTimeout() : error;
  });
  return socket;
}

/** @param longestMs how long PostgreSQL may stay silent while the stream waits for it */
export function openBulk(url: string, longestMs: number) {
  const hosts = hostsOf(url);
  const { promise: connected, resolve: hasConnected } = Promise.withResolvers<Socket>();
  // postgres.js calls this option for its socket; its types lack it.
  const ours = {
    async socket(address: Address): Promise<Socket> {
      const socket = await dial(address, hosts);
      hasConnected(socket);
      return socket;
    },
  };
  // It would send TLS parameters that it doesn't know to PostgreSQL as settings, which refuses them.
  const sql = postgres(withoutTls(hosts[0] ?? url), {
    max: 1,
    prepare: false,
    // A stream has no arrays as parameters. postgres.js would ask for their types first, and nothing catches that query's
    // failure: a database that goes away at that moment would end the process.
    fetch_types: false,
    onnotice: () => {},
    connect_timeout: CONNECT_MS / 1000,
    connection: { application_name: 'realmkeeper-bulk' },
    // pg parses all TLS settings of the address (authority, certificate, checks); postgres.js parses fewer
    ssl: tlsOf(hosts),
    ...ours,
  });
  /** Starts the limit on PostgreSQL's silence; the returned function ends it. */
  function waiting(): () => void {
    let end: (() => void) | undefined;
    let over = false;
    void connected.then((socket) => {
      if (!over) end = limitWait(socket, longestMs);
    });
    return () => {
      over = true;
      end?.();
    };
  }
  async function waited<T>(answer: Promise<T>): Promise<T> {
    const end = waiting();
    try {
      return await answer;
    } finally {
      end();
    }
  }
  return { sql, waiting, waited };
}
