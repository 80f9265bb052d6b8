// Owns: talking to a directory: its servers in order, encryption before anything is said, signing in there, searches by pages,
// attributes that come in ranges. Every connection goes through the outbound guard; no message holds a password.
// Does not own: what entries mean (entry.ts), when they are asked for (sync.ts, sign-in.ts).
// Implements: specification 4.2; decisions "User federation"; RFC 4511, RFC 2696 (pages).
import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import tls from 'node:tls';
import type { Client, Filter, SearchOptions } from 'ldapts';
import type { Outbound } from '../../../http/outbound.ts';
import { OutboundError } from '../../../http/outbound-connection.ts';
import type { Directory } from './store.ts';

export type DirectoryOutbound = Pick<Outbound, 'connect' | 'secureContext'>;

/** Why a directory did not answer as it should, in words for whoever administers the realm. */
export class DirectoryFault extends Error {
  /** Trying again changes nothing: somebody has to look at the directory's settings, or at the directory. */
  readonly forGood: boolean;
  constructor(message: string, { cause, forGood = false }: { cause?: unknown; forGood?: boolean } = {}) {
    super(message, { cause });
    this.forGood = forGood;
  }
}

/** An entry with the values of what was asked for. */
export interface Entry {
  dn: string;
  values(attribute: string): string[];
  bytes(attribute: string): Buffer[];
  /** What to ask for next of an attribute that did not come whole (Active Directory's `range=`). */
  rest(attribute: string): string | undefined;
}

export interface Search {
  base: string;
  scope: 'base' | 'one' | 'sub';
  filter: Filter;
  attributes: readonly string[];
}
export interface Session {
  pages(search: Search, pageSize: number): AsyncGenerator<Entry[]>;
  /** No more than so many. */
  some(search: Search, most: number): Promise<Entry[]>;
  /** All values of an attribute of an entry, of which the first are there. */
  whole(entry: Entry, attribute: string): Promise<string[]>;
  /** Whether somebody signs in so. The session is theirs from then on. */
  proves(dn: string, password: string): Promise<boolean>;
}

const INVALID_CREDENTIALS = 49;
const NO_SUCH_OBJECT = 32;
const BUSY = 51;
const UNAVAILABLE = 52;
const SIZE_LIMIT_EXCEEDED = 4;
const LONGEST_WORDS = 300;
const NO_ANSWER = 'the connection to it broke, or it did not answer in time';
/** Loaded with the first directory that is asked. */
export const ldapts = () => import('ldapts');

/** Opens a connection for `work` and closes it behind it. @throws DirectoryFault */
export async function withDirectory<T>(
  directory: Directory,
  { outbound, timeoutMs }: { outbound: DirectoryOutbound; timeoutMs: number },
  work: (session: Session) => Promise<T>,
): Promise<T> {
  let client: Client | undefined;
  try {
    client = await open(directory, outbound, timeoutMs);
    return await work(sessionOf(client));
  } catch (error) {
    throw faultOf(error);
  } finally {
    await client?.unbind().catch(() => {});
  }
}

/** The first of its servers that takes the connection and the realm's own sign-in. */
async function open({ connection, secret }: Directory, outbound: DirectoryOutbound, timeoutMs: number) {
  const { urls, startTls = false, caCertificate = null, bindDn = null } = connection;
  if (bindDn !== null && !secret) throw new DirectoryFault('the password of bindDn is missing', { forGood: true });
  const secureContext =
    caCertificate === null ? outbound.secureContext() : tls.createSecureContext({ ca: [caCertificate] });
  let last: unknown;
  for (const url of urls) {
    const { protocol, hostname, port } = new URL(url);
    const bare = hostname.replace(/^\[|\]$/g, '');
    const trust = {
      host: bare,
      secureContext,
      minVersion: 'TLSv1.2' as const,
      ...(isIP(bare) === 0 && { servername: bare }),
    };
    let client: Client | undefined;
    try {
      const plain = await outbound.connect({
        host: hostname,
        port: Number(port) || (protocol === 'ldaps:' ? 636 : 389),
        timeoutMs,
      });
      const socket = protocol === 'ldaps:' ? await secured(plain, trust, timeoutMs) : plain;
      client = await clientOver(socket, timeoutMs);
      if (startTls && protocol === 'ldap:') await encrypt(client, socket, trust, timeoutMs);
      if (bindDn !== null) await client.bind(bindDn, secret ?? '');
      return client;
    } catch (error) {
      last = error;
      await client?.unbind().catch(() => {});
    }
  }
  throw last;
}

async function secured(socket: Socket, trust: tls.ConnectionOptions, timeoutMs: number): Promise<tls.TLSSocket> {
  const encrypted = tls.connect({ ...trust, socket });
  try {
    await once(encrypted, 'secureConnect', { signal: AbortSignal.timeout(timeoutMs) });
    return encrypted;
  } catch (error) {
    encrypted.destroy();
    socket.destroy();
    throw error;
  }
}

/** ldapts itself waits for the handshake for ever. */
async function encrypt(client: Client, socket: Socket, trust: tls.ConnectionOptions, timeoutMs: number): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    socket.destroy();
    reject(new DirectoryFault(NO_ANSWER));
  }, timeoutMs);
  try {
    await Promise.race([client.startTLS(trust), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A client of this one connection: it never makes another, which would be neither guarded nor encrypted. */
async function clientOver(socket: Socket, timeoutMs: number): Promise<Client> {
  const { Client: LdapClient } = await ldapts();
  let used = false;
  return new LdapClient({
    url: 'ldap://directory',
    timeout: timeoutMs,
    createConnection: () => {
      if (used) throw new DirectoryFault('it closed the connection');
      used = true;
      return socket;
    },
  });
}

/** @param client bound already */
export function sessionOf(client: Pick<Client, 'search' | 'searchPaginated' | 'bind'>): Session {
  const optionsOf = ({ scope, filter, attributes }: Search): SearchOptions => ({
    scope,
    filter,
    attributes: [...attributes],
    explicitBufferAttributes: attributes.filter(isBinary),
  });
  const some = async (search: Search, most: number): Promise<Entry[]> => {
    const { searchEntries } = await client.search(search.base, { ...optionsOf(search), sizeLimit: most });
    return searchEntries.map(entryOf);
  };
  return {
    some,
    async *pages(search, pageSize) {
      const options = { ...optionsOf(search), paged: { pageSize } };
      for await (const { searchEntries } of client.searchPaginated(search.base, options))
        yield searchEntries.map(entryOf);
    },
    async whole(entry, attribute) {
      const values = entry.values(attribute);
      const { PresenceFilter } = await ldapts();
      const filter = new PresenceFilter({ attribute: 'objectClass' });
      for (let rest = entry.rest(attribute); rest !== undefined; ) {
        const [more] = await some({ base: entry.dn, scope: 'base', filter, attributes: [rest] }, 1);
        const next = more?.rest(attribute);
        values.push(...(more?.values(attribute) ?? []));
        // one that leads nowhere ends it
        rest = next === rest ? undefined : next;
      }
      return values;
    },
    async proves(dn, password) {
      // A name without a password is taken by a directory as nobody, and let in (RFC 4513 §5.1.2).
      if (password === '' || dn === '') return false;
      try {
        await client.bind(dn, password);
        return true;
      } catch (error) {
        const code = codeOf(error);
        // Whatever it answers but that it is busy or going is its word about this person: locked, disabled, too many tries.
        if (typeof code === 'number' && code !== BUSY && code !== UNAVAILABLE) return false;
        throw error;
      }
    },
  };
}

/** Active Directory's ids are bytes. */
export const isBinary = (attribute: string): boolean => attribute.toLowerCase() === 'objectguid';

const RANGE = /;range=(\d+)-(\d+|\*)/i;
const nameOf = (attribute: string): string => attribute.replace(/;.*$/s, '').toLowerCase();

/** @param found as ldapts gives it: values by the names that the directory wrote */
export function entryOf({ dn, ...found }: { dn: string; [attribute: string]: unknown }): Entry {
  const byName = new Map<string, { key: string; values: Buffer[] }>();
  for (const [key, value] of Object.entries(found)) {
    const values = [value].flat().map((one) => (Buffer.isBuffer(one) ? one : Buffer.from(String(one))));
    const name = nameOf(key);
    // with a range it may be there once more, empty, as it was asked for
    if (values.length > 0 || !byName.has(name)) byName.set(name, { key, values });
  }
  const bytes = (attribute: string) => byName.get(nameOf(attribute))?.values ?? [];
  return {
    dn: dn.replaceAll('\0', '\\00'),
    bytes,
    values: (attribute) => bytes(attribute).map((value) => value.toString()),
    rest(attribute) {
      const [, , last] = RANGE.exec(byName.get(nameOf(attribute))?.key ?? '') ?? [];
      return last === undefined || last === '*' ? undefined : `${nameOf(attribute)};range=${Number(last) + 1}-*`;
    },
  };
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

/** What the directory or the way to it says: neither a password nor an address in our network stands in it. */
function faultOf(error: unknown): unknown {
  if (error instanceof DirectoryFault) return error;
  if (error instanceof OutboundError) return new DirectoryFault(error.message, { cause: error });
  if (!(error instanceof Error)) return error;
  const code = codeOf(error);
  if (code === INVALID_CREDENTIALS)
    return new DirectoryFault('it does not take bindDn with this password', { cause: error, forGood: true });
  if (code === NO_SUCH_OBJECT)
    return new DirectoryFault('it has no entry at the base that is named', { cause: error, forGood: true });
  if (code === SIZE_LIMIT_EXCEEDED)
    return new DirectoryFault('it gives no more entries in one answer: a smaller pageSize may help', { cause: error });
  const ofDirectory = typeof code === 'number';
  const ofConnection = error.name === 'TimeoutError' || /timed out|Socket|Connection|connection/.test(error.message);
  const ofTls = typeof code === 'string' && /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code);
  const known = ofDirectory || ofConnection || ofTls || (typeof code === 'string' && 'syscall' in error);
  if (!known) return error;
  const words = ofDirectory || ofTls ? error.message : NO_ANSWER;
  return new DirectoryFault(words.replaceAll(/\s+/g, ' ').slice(0, LONGEST_WORDS), { cause: error });
}
