// Owns: a DATABASE_URL with several hosts, as libpq knows it: a connection goes to the host that takes writes.
// Does not own: finding that host (primary.ts, loaded if there are several), connections themselves (sql.ts, changes.ts, …).
// Implements: docs/high-availability.md. pg and postgres.js know one host, or none that must take writes.
import { Socket } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from 'node:tls';
import pg from 'pg';

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#@]*@)?)([^/?#]*)(.*)$/s;
const ATTRIBUTES = 'target_session_attrs';

/** The address once for each of its hosts, without what only says which host is wanted. */
export function hostsOf(url: string): string[] {
  const [, before = '', hosts = '', after = ''] = PARTS.exec(url) ?? [];
  return hosts.split(',').map((host) => {
    const one = `${before}${host}${after}`;
    if (!after.includes(ATTRIBUTES) || !URL.canParse(one)) return one;
    const parsed = new URL(one);
    parsed.searchParams.delete(ATTRIBUTES);
    return parsed.href;
  });
}

/** Says what is wrong with a DATABASE_URL; undefined if nothing is. */
export function faultOf(url: string): string | undefined {
  const [, before = '', hosts = '', after = ''] = PARTS.exec(url) ?? [];
  const all = hosts.split(',').map((host) => `${before}${host}${after}`);
  if (!all.every((one) => /^postgres(ql)?:/.test(one) && URL.canParse(one)))
    return 'must be postgres://user:password@host/database';
  if (all.length > 1 && hosts.split(',').some((host) => host === '')) return 'names an empty host';
  const wanted = new URL(all[0] ?? '').searchParams.get(ATTRIBUTES);
  if (wanted !== null && wanted !== 'read-write' && wanted !== 'primary')
    return `${ATTRIBUTES} must be read-write or primary: the server writes`;
  return undefined;
}

const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'uselibpqcompat'];
/** Removes the TLS parameters. */
export function withoutTls(url: string): string {
  const rest = new URL(url);
  for (const name of TLS_PARAMETERS) rest.searchParams.delete(name);
  return rest.href;
}

/** The TLS settings of an address; of several hosts each may show a certificate for the name of any. */
export function tlsOf(hosts: readonly string[]): boolean | ConnectionOptions {
  const [first = ''] = hosts;
  // its type says boolean alone
  const ssl = Object(new pg.Client({ connectionString: first })).ssl as boolean | ConnectionOptions;
  if (!ssl || hosts.length === 1 || (typeof ssl === 'object' && ssl.checkServerIdentity)) return ssl;
  const names = hosts.map((host) => new URL(host).hostname);
  const identity = (_: string, certificate: PeerCertificate): Error | undefined => {
    const faults = names.map((name) => checkServerIdentity(name, certificate));
    return faults.includes(undefined) ? undefined : faults[0];
  };
  return { ...(typeof ssl === 'object' ? ssl : {}), checkServerIdentity: identity };
}

/** A socket that connects to the host that takes writes, whichever it is asked for. */
class PrimarySocket extends Socket {
  readonly #hosts: readonly string[];
  constructor(hosts: readonly string[]) {
    super();
    this.#hosts = hosts;
  }
  override connect(..._: unknown[]): this {
    const toPrimary = async () => {
      const { primaryOf } = await import('./primary.ts');
      const primary = primaryOf(this.#hosts);
      const address = await primary.address();
      if (this.destroyed) return;
      primary.watch(this, address);
      super.connect(address);
    };
    toPrimary().catch((error: Error) => this.destroy(error));
    return this;
  }
}

interface Connection {
  connectionString: string;
  ssl?: boolean | ConnectionOptions;
  stream?: () => Socket;
}

/** The options with which pg connects to an address of one or several hosts. */
export function connectionTo(url: string): Connection {
  const hosts = hostsOf(url);
  const [first = url] = hosts;
  if (hosts.length === 1) return { connectionString: first };
  return { connectionString: withoutTls(first), ssl: tlsOf(hosts), stream: () => new PrimarySocket(hosts) };
}
