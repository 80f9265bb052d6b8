// Owns: connections to a directory: its servers in order, encryption before any data, the bind, searches by pages, attributes in ranges. Every connection goes through the outbound guard, and no message holds a password.
// Does not own: what entries mean (entry.ts), when they are read (sync.ts, sign-in.ts).
// Implements: specification 4.2; decisions "User federation"; RFC 4511, RFC 2696 (pages).
import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import tls from 'node:tls';
import type { Client, Filter, SearchOptions } from 'ldapts';
import { speaksNoTls } from '../../../contract/error-words.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { OutboundError } from '../../../http/outbound-connection.ts';
import { type AnswerSize, createAnswerSize } from './answer-size.ts';
import type { Directory } from './store.ts';

export type DirectoryOutbound = Pick<Outbound, 'connect' | 'secureContext'>;

/** Why a directory did not answer as it should, in words for the realm's administrators. */
export class DirectoryFault extends Error {
  /** A retry can't succeed: an administrator must change the directory or its settings here. */
  readonly forGood: boolean;
  constructor(message: string, { cause, forGood = false }: { cause?: unknown; forGood?: boolean } = {}) {
    super(message, { cause });
    this.forGood = forGood;
  }
}

/** An entry with the values of the requested attributes. */
export interface Entry {
  dn: string;
  values(attribute: string): string[];
  bytes(attribute: string): Buffer[];
  /** The values; in Base64 where they are bytes, as of pictures and certificates. */
  texts(attribute: string): string[];
  /** Whether a value of the attribute is bytes. */
  holdsBytes(attribute: string): boolean;
  /**
   * The range to request next of an attribute that came in part (Active Directory's `range=`); undefined: it came whole.
   */
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
  /** At most this many entries. */
  some(search: Search, most: number): Promise<Entry[]>;
  /** All values of an attribute, whose first values are in `entry`. */
  whole(entry: Entry, attribute: string): Promise<string[]>;
  /** Whether the directory accepts the password for this entry. The connection is bound as that entry from then on. */
  proves(dn: string, password: string): Promise<boolean>;
}

/** The answer to an extended operation that the directory does not know (RFC 4511, 4.12). */
const PROTOCOL_ERROR = 2;
const INVALID_CREDENTIALS = 49;
const NO_SUCH_OBJECT = 32;
const BUSY = 51;
const UNAVAILABLE = 52;
const SIZE_LIMIT_EXCEEDED = 4;
const LONGEST_WORDS = 300;
/** Values of one attribute that are read in ranges: the members of a group. */
const MOST_VALUES = 1_000_000;
const NO_ANSWER = 'the connection to the directory broke, or the directory did not answer in time';
const NO_STARTTLS = 'the directory offers no STARTTLS: use ldaps://, or set STARTTLS up in the directory';
const NO_TLS = 'the directory speaks no TLS at this port: use ldap:// with STARTTLS, or the port of ldaps://';
/** Loaded when the first directory is used. */
export const ldapts = () => import('ldapts');

/** Opens a connection for `work` and closes it afterwards. @throws DirectoryFault */
export async function withDirectory<T>(
  directory: Directory,
  { outbound, timeoutMs }: { outbound: DirectoryOutbound; timeoutMs: number },
  work: (session: Session) => Promise<T>,
): Promise<T> {
  let limited: LimitedClient | undefined;
  try {
    limited = await open(directory, outbound, timeoutMs);
    return await work(sessionOf(limited.client, limited.size));
  } catch (error) {
    throw limited?.fault() ?? faultOf(error);
  } finally {
    await limited?.client.unbind().catch(() => {});
  }
}

/** Connects to the first of the directory's servers that accepts the connection and the bind with `bindDn`. */
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
    let limited: LimitedClient | undefined;
    try {
      const plain = await outbound.connect({
        host: hostname,
        port: Number(port) || (protocol === 'ldaps:' ? 636 : 389),
        timeoutMs,
      });
      const socket = protocol === 'ldaps:' ? await secured(plain, trust, timeoutMs) : plain;
      limited = await clientOver(socket, timeoutMs);
      const { client } = limited;
      if (startTls && protocol === 'ldap:') await encrypt(client, socket, trust, timeoutMs);
      if (bindDn !== null) await client.bind(bindDn, secret ?? '');
      return limited;
    } catch (error) {
      last = limited?.fault() ?? error;
      await limited?.client.unbind().catch(() => {});
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

/** ldapts itself sets no time limit on the handshake. */
async function encrypt(client: Client, socket: Socket, trust: tls.ConnectionOptions, timeoutMs: number): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    socket.destroy();
    reject(new DirectoryFault(NO_ANSWER));
  }, timeoutMs);
  try {
    await Promise.race([client.startTLS(trust), late]);
  } catch (error) {
    if (codeOf(error) === PROTOCOL_ERROR) throw new DirectoryFault(NO_STARTTLS, { cause: error, forGood: true });
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

interface LimitedClient {
  client: Client;
  size: AnswerSize;
  /** The fault for which the connection was closed: the directory sent too much, or no LDAP. */
  fault(): DirectoryFault | undefined;
}

/**
 * A client for this one connection. ldapts must never open another connection, which would be neither guarded nor
 * encrypted.
 */
async function clientOver(socket: Socket, timeoutMs: number): Promise<LimitedClient> {
  const { Client: LdapClient } = await ldapts();
  const size = createAnswerSize();
  let fault: DirectoryFault | undefined;
  let used = false;
  /** Listens before ldapts does, so that a message is refused by its length, before it is kept. */
  const limit = (over: Socket) => {
    const take = (chunk: Buffer) => {
      const refused = size.take(chunk);
      if (refused === undefined) return;
      fault ??= new DirectoryFault(refused);
      over.destroy(fault);
    };
    over.on('data', take);
    return () => over.off('data', take);
  };
  let release = () => {};
  const client = new LdapClient({
    url: 'ldap://directory',
    timeout: timeoutMs,
    createConnection: () => {
      if (used) throw new DirectoryFault('the directory closed the connection');
      used = true;
      const stop = limit(socket);
      release = () => void stop();
      return socket;
    },
    createSecureConnection: (...[options]: unknown[]) => {
      release();
      const encrypted = tls.connect(Object(options));
      encrypted.once('secureConnect', () => void limit(encrypted));
      return encrypted;
    },
  });
  return { client, size, fault: () => fault };
}

/** @param client is bound already */
export function sessionOf(
  client: Pick<Client, 'search' | 'searchPaginated' | 'bind'>,
  size: Pick<AnswerSize, 'begin'> = { begin() {} },
): Session {
  const optionsOf = ({ scope, filter, attributes }: Search): SearchOptions => ({
    scope,
    filter,
    attributes: [...attributes],
    // As bytes; what is text is decoded here (entryOf).
    explicitBufferAttributes: [...attributes, ...BINARY],
  });
  const some = async (search: Search, most: number): Promise<Entry[]> => {
    size.begin();
    const { searchEntries } = await client.search(search.base, { ...optionsOf(search), sizeLimit: most });
    return searchEntries.map(entryOf);
  };
  return {
    some,
    async *pages(search, pageSize) {
      const options = { ...optionsOf(search), paged: { pageSize } };
      size.begin();
      for await (const { searchEntries } of client.searchPaginated(search.base, options)) {
        yield searchEntries.map(entryOf);
        size.begin();
      }
    },
    async whole(entry, attribute) {
      const values = entry.values(attribute);
      const { PresenceFilter } = await ldapts();
      const filter = new PresenceFilter({ attribute: 'objectClass' });
      for (let rest = entry.rest(attribute); rest !== undefined; ) {
        const [more] = await some({ base: entry.dn, scope: 'base', filter, attributes: [rest] }, 1);
        const next = more?.rest(attribute);
        for (const value of more?.values(attribute) ?? []) values.push(value);
        if (values.length > MOST_VALUES)
          throw new DirectoryFault(`an entry has more than ${MOST_VALUES} values of ${attribute}`);
        // A range that doesn't advance ends the loop.
        rest = next === rest ? undefined : next;
      }
      return values;
    },
    async proves(dn, password) {
      // A directory treats a bind without a password as anonymous and accepts it (RFC 4513 §5.1.2).
      if (password === '' || dn === '') return false;
      try {
        size.begin();
        await client.bind(dn, password);
        return true;
      } catch (error) {
        const code = codeOf(error);
        // Any answer but "busy" and "unavailable" concerns this entry: locked, disabled, too many attempts.
        if (typeof code === 'number' && code !== BUSY && code !== UNAVAILABLE) return false;
        throw error;
      }
    },
  };
}

/** Attributes whose values are bytes, as directories write their names. ldapts compares these names exactly. */
const BINARY = [
  'objectGUID',
  'objectSid',
  'mS-DS-ConsistencyGuid',
  'jpegPhoto',
  'thumbnailPhoto',
  'photo',
  'audio',
  'userCertificate',
  'userSMIMECertificate',
  'userPKCS12',
];
const binaryNames = new Set(BINARY.map((name) => name.toLowerCase()));
const isText = (value: Buffer): boolean => isUtf8(value) && !value.includes(0);

/** Active Directory's ids are bytes, not text. */
export const isBinary = (attribute: string): boolean => attribute.toLowerCase() === 'objectguid';

const RANGE = /;range=(\d+)-(\d+|\*)/i;
/** The name with its options (`cn;lang-de`, RFC 4512 §2.5), but for the range that Active Directory adds. */
const nameOf = (attribute: string): string =>
  attribute
    .toLowerCase()
    .split(';')
    .filter((part) => !part.startsWith('range='))
    .join(';');

/** @param given an entry of ldapts: values by the attribute names that the directory wrote */
export function entryOf({ dn, ...given }: { dn: string; [attribute: string]: unknown }): Entry {
  const byName = new Map<string, { key: string; values: Buffer[] }>();
  for (const [key, value] of Object.entries(given)) {
    const values = [value].flat().map((one) => (Buffer.isBuffer(one) ? one : Buffer.from(String(one))));
    const name = nameOf(key);
    // A requested range can come with a second, empty entry under the requested name.
    if (values.length > 0 || !byName.has(name)) byName.set(name, { key, values });
  }
  /** Of an attribute that the entry has with options alone (`givenName;lang-ja`), the first of those. */
  const found = (attribute: string) => {
    const name = nameOf(attribute);
    const own = byName.get(name);
    if (own && own.values.length > 0) return own;
    const [, other] = [...byName].find(([key, { values }]) => key.startsWith(`${name};`) && values.length > 0) ?? [];
    return other ?? own;
  };
  const bytes = (attribute: string) => found(attribute)?.values ?? [];
  const holdsBytes = (attribute: string): boolean => {
    const [name = '', ...options] = nameOf(attribute).split(';');
    return binaryNames.has(name) || options.includes('binary') || !bytes(attribute).every(isText);
  };
  return {
    dn: dn.replaceAll('\0', '\\00'),
    bytes,
    values: (attribute) => bytes(attribute).map((value) => value.toString()),
    holdsBytes,
    texts: (attribute) => bytes(attribute).map((value) => value.toString(holdsBytes(attribute) ? 'base64' : 'utf8')),
    rest(attribute) {
      const [, , last] = RANGE.exec(found(attribute)?.key ?? '') ?? [];
      return last === undefined || last === '*' ? undefined : `${nameOf(attribute)};range=${Number(last) + 1}-*`;
    },
  };
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

/**
 * Translates errors of the directory and the connection. The message contains neither a password nor an address of the
 * internal network.
 */
function faultOf(error: unknown): unknown {
  if (error instanceof DirectoryFault) return error;
  if (error instanceof OutboundError) return new DirectoryFault(error.message, { cause: error });
  if (!(error instanceof Error)) return error;
  const code = codeOf(error);
  if (code === INVALID_CREDENTIALS)
    return new DirectoryFault('the directory does not accept bindDn with this password', {
      cause: error,
      forGood: true,
    });
  if (code === NO_SUCH_OBJECT)
    return new DirectoryFault('the directory has no entry at the base of the search', { cause: error, forGood: true });
  if (code === SIZE_LIMIT_EXCEEDED)
    return new DirectoryFault('the directory limits the entries of one answer: try a smaller pageSize', {
      cause: error,
    });
  if (typeof code === 'string' && speaksNoTls(code)) return new DirectoryFault(NO_TLS, { cause: error, forGood: true });
  const ofDirectory = typeof code === 'number';
  const ofConnection = error.name === 'TimeoutError' || /timed out|Socket|Connection|connection/.test(error.message);
  const ofTls = typeof code === 'string' && /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code);
  const known = ofDirectory || ofConnection || ofTls || (typeof code === 'string' && 'syscall' in error);
  if (!known) return error;
  const words = ofDirectory || ofTls ? error.message : NO_ANSWER;
  return new DirectoryFault(words.replaceAll(/\s+/g, ' ').slice(0, LONGEST_WORDS), { cause: error });
}
