// Owns: every request that the server makes, and the guard against SSRF. Who may be reached is decided at connection time, on
// the address that is dialled (so no DNS rebinding); redirects are not followed; time and size are bounded. Does not own:
// which addresses those are (outbound-addresses.ts).
// Implements decisions "Webhooks" (the same guard covers every outbound fetch) and specification 5 rule 5.
import { lookup as systemLookup } from 'node:dns';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import net from 'node:net';
import tls from 'node:tls';
import type { Agent } from 'undici';
import { errorWords } from '../contract/error-words.ts';
import { type AddressPolicy, addressPolicy } from './outbound-addresses.ts';

export interface OutboundRequest {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** From the first look-up to the last byte. */
  timeoutMs: number;
  maxBytes: number;
  /** What happens to an answer that is longer; `cut` keeps its beginning. */
  excess?: 'refuse' | 'cut';
  /** Default true; false also takes http. */
  httpsOnly?: boolean;
}
export interface OutboundAnswer {
  status: number;
  headers: Headers;
  body: Buffer;
  /** It came from the cluster's own issuer, by the cluster's CA. */
  atHome?: boolean;
}
export type OutboundFault = 'bad-url' | 'refused-address' | 'timed-out' | 'too-large' | 'failed';

/**
 * Why there is no answer; the message may be shown to an administrator of any realm, so it holds no address that a name
 * has in our network: that is for the log.
 */
export class OutboundError extends Error {
  readonly fault: OutboundFault;
  readonly logged: string | undefined;
  constructor(fault: OutboundFault, message: string, { cause, logged }: { cause?: unknown; logged?: string } = {}) {
    super(message, { cause });
    this.fault = fault;
    this.logged = logged;
  }
}

/**
 * The issuer of the cluster that this server runs in. One that anybody can ask is asked like any other. Where that fails,
 * its discovery document and keys, and nothing else, are fetched with the server's own token, also from a private
 * address, and only from who shows a certificate of the cluster's CA: a public issuer is never sent the token.
 */
export interface ClusterIssuer {
  issuer: string;
  caFile: string;
  tokenFile?: string | undefined;
}
export interface OutboundOptions {
  /** SVC_OUTBOUND_ALLOW */
  allow?: readonly string[] | undefined;
  /** SVC_OUTBOUND_CA_FILE: trusted besides the public authorities. */
  caFile?: string | undefined;
  cluster?: ClusterIssuer | undefined;
  /** How names become addresses; for tests. */
  lookup?: net.LookupFunction;
  /** Told what a failure's message leaves out. */
  log?: (message: string) => void;
}
export interface Outbound {
  fetch(url: string, options: OutboundRequest): Promise<OutboundAnswer>;
  close(): Promise<void>;
}

const CONNECT_MS = 5_000;
const KEEP_ALIVE_MS = 10_000;
const CLUSTER_KEYS_PATH = '/openid/v1/jwks';

export function createOutbound({ allow = [], caFile, cluster, lookup, log }: OutboundOptions = {}): Outbound {
  const policy = addressPolicy(allow);
  const agent = guardedAgent({ policy, caFiles: caFile ? [caFile] : [], lookup });
  const home = cluster && homeOf(cluster);
  const homeAgent = cluster && guardedAgent({ policy: () => true, caFiles: [cluster.caFile], onlyThese: true, lookup });

  async function sendBy(by: typeof agent, url: URL, options: OutboundRequest, headers: Record<string, string> = {}) {
    try {
      return await send(url, options, { dispatcher: await by.get(), headers });
    } catch (error) {
      const fault = faultOf(error, url, options);
      if (fault.logged !== undefined) log?.(fault.logged);
      throw fault;
    }
  }

  return {
    async fetch(address, options) {
      const url = parseUrl(address, options.httpsOnly ?? true);
      const asAnybody = sendBy(agent, url, options);
      if (!home || !homeAgent || !home.covers(url, options.method ?? 'GET')) return asAnybody;
      const answer = await asAnybody.catch((error: OutboundError) => error);
      if (answer instanceof OutboundError ? answer.fault === 'timed-out' : ![401, 403].includes(answer.status)) {
        return asAnybody;
      }
      try {
        return { ...(await sendBy(homeAgent, url, options, await home.headers())), atHome: true };
      } catch (error) {
        if (!(error instanceof OutboundError && answer instanceof OutboundError)) throw error;
        throw new OutboundError(error.fault, `${error.message} (and without the cluster's CA: ${answer.message})`, {
          cause: error,
        });
      }
    },
    async close() {
      await Promise.all([agent.close(), homeAgent?.close()]);
    },
  };
}

/** As its default: that is all of a CommonJS package that a late import has in a bundle; by name it would be undefined. */
const undici = async () => (await import('undici')).default;

async function send(
  url: URL,
  { method = 'GET', headers, body, timeoutMs, maxBytes, excess = 'refuse' }: OutboundRequest,
  extra: { dispatcher: Agent; headers: Record<string, string> },
): Promise<OutboundAnswer> {
  const { request } = await undici();
  const answer = await request(url, {
    method,
    dispatcher: extra.dispatcher,
    headers: { 'user-agent': 'Realmkeeper', ...headers, ...extra.headers },
    signal: AbortSignal.timeout(timeoutMs),
    ...(body === undefined ? {} : { body }),
  });
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > maxBytes && excess === 'refuse')
      throw new OutboundError('too-large', `${url.host} answered more than ${maxBytes} bytes`);
    chunks.push(bytes);
    if (size > maxBytes) break;
  }
  const flat = new Headers();
  for (const [name, value] of Object.entries(answer.headers))
    for (const one of [value ?? []].flat()) flat.append(name, one);
  return { status: answer.statusCode, headers: flat, body: Buffer.concat(chunks).subarray(0, maxBytes) };
}

/**
 * An agent whose every connection goes to an address that the policy permits. It is made at the first request: undici
 * takes as long to load as the rest of the server, and many a server asks nobody anything.
 */
function guardedAgent({
  policy,
  caFiles,
  onlyThese = false,
  lookup = systemLookup,
}: {
  policy: AddressPolicy;
  caFiles: readonly string[];
  /** Without the public authorities. */
  onlyThese?: boolean;
  lookup?: net.LookupFunction | undefined;
}) {
  // Read now, so that a wrong path is a fault of the start.
  const extra = caFiles.map((file) => readFileSync(file, 'utf8'));
  let made: Promise<Agent> | undefined;

  async function make(): Promise<Agent> {
    const { Agent, buildConnector } = await undici();
    // One context for all: parsing the public authorities anew for each connection takes longer than the handshake.
    const trust =
      extra.length === 0
        ? {}
        : {
            secureContext: tls.createSecureContext({
              ca: [...(onlyThese ? [] : tls.getCACertificates('default')), ...extra],
            }),
          };
    return new Agent({
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      connect(target, callback) {
        const host = target.hostname.replace(/^\[|\]$/g, '');
        const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80);
        const permits = (address: string) => policy({ host: target.hostname, port, address });
        // net.connect asks no look-up for an address, so it is judged here.
        if (net.isIP(host) > 0 && !permits(host)) return callback(refused(target.hostname, [host]), null);
        const options = { ...trust, allowH2: false, timeout: CONNECT_MS, lookup: guarded(lookup, permits) };
        return buildConnector(options)({ ...target, hostname: host }, callback);
      },
    });
  }
  return {
    get(): Promise<Agent> {
      made ??= make();
      return made;
    },
    async close(): Promise<void> {
      await (await made)?.destroy();
    },
  };
}

/** A look-up that answers the permitted addresses alone; what it answers is what is dialled. */
function guarded(lookup: net.LookupFunction, permits: (address: string) => boolean): net.LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found, family) => {
      if (error) return callback(error, [], 0);
      const all = Array.isArray(found) ? found : [{ address: found, family: family ?? net.isIP(found) }];
      const good = all.filter(({ address }) => permits(address));
      const [first] = good;
      if (!first)
        return callback(
          refused(
            hostname,
            all.map((a) => a.address),
          ),
          [],
          0,
        );
      return options.all ? callback(null, good) : callback(null, first.address, first.family);
    });
  };
}

const refused = (host: string, addresses: readonly string[]) =>
  new OutboundError('refused-address', `${host} is at no public address; SVC_OUTBOUND_ALLOW could permit it`, {
    logged: `${host} is at ${addresses.join(', ') || 'no address'}, which is not public`,
  });

function parseUrl(address: string, httpsOnly: boolean): URL {
  const url = URL.parse(address);
  if (!url || !['https:', 'http:'].includes(url.protocol))
    throw new OutboundError('bad-url', 'The address is not a URL');
  if (httpsOnly && url.protocol !== 'https:') throw new OutboundError('bad-url', `${url.host}: only https is allowed`);
  if (url.username !== '' || url.password !== '')
    throw new OutboundError('bad-url', `${url.host}: the address must not hold a user name or password`);
  return url;
}

function faultOf(error: unknown, url: URL, { timeoutMs }: OutboundRequest): OutboundError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof OutboundError) return cause;
  if (error instanceof Error && error.name === 'TimeoutError')
    return new OutboundError('timed-out', `${url.host} did not answer within ${timeoutMs} ms`, { cause: error });
  const each = error instanceof AggregateError ? error.errors : [error];
  const words = (say: (error: unknown) => string) => `${url.host}: ${[...new Set(each.map(say))].join('; ')}`;
  return new OutboundError('failed', words(withoutAddress), { cause: error, logged: words(errorWords) });
}

/** The system's errors, and undici's of a connection that isn't made in time, name the addresses that were dialled. */
function withoutAddress(error: unknown): string {
  if (!(error instanceof Error)) return 'the request failed';
  const code = 'code' in error ? String(error.code) : undefined;
  if ('syscall' in error) return `${error.syscall} ${code ?? 'failed'}`;
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return `no connection within ${CONNECT_MS} ms`;
  return error.message || (code ?? 'the request failed');
}

/** What is asked of the cluster's own issuer, and the headers that go there and nowhere else. */
function homeOf({ issuer, tokenFile }: ClusterIssuer) {
  const { origin, pathname } = new URL(issuer);
  const paths = new Set([`${pathname.replace(/\/$/, '')}/.well-known/openid-configuration`, CLUSTER_KEYS_PATH]);
  return {
    covers: (url: URL, method: string) =>
      method === 'GET' &&
      url.protocol === 'https:' &&
      url.origin === origin &&
      paths.has(url.pathname) &&
      url.search === '',
    // The file is read each time: a projected token is replaced while the server runs.
    headers: async (): Promise<Record<string, string>> =>
      tokenFile ? { authorization: `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}` } : {},
  };
}
