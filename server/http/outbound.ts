// Owns: every request that the server makes over HTTP: redirects are not followed; time and size are bounded.
// Does not own: the permitted addresses (outbound-connection.ts, outbound-addresses.ts).
// Implements decisions "Webhooks" (the same guard covers every outbound fetch) and specification 5 rule 5.
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type net from 'node:net';
import type tls from 'node:tls';
import type { Agent } from 'undici';
import { traced, traceparent } from '../telemetry/spans.ts';
import { type AddressPolicy, addressPolicy } from './outbound-addresses.ts';
import {
  CONNECT_MS,
  connectTo,
  faultOf,
  guardOf,
  OutboundError,
  type Target,
  trustedAuthorities,
} from './outbound-connection.ts';

export interface OutboundRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** The time limit from the first look-up to the last byte. */
  timeoutMs: number;
  maxBytes: number;
  /** The treatment of a longer answer: refuse it, or keep its beginning (`cut`). */
  excess?: 'refuse' | 'cut';
  /** Default: true; false also permits http. */
  httpsOnly?: boolean;
  /** Sends `traceparent`, if traces are sent: for receivers that the realm's administrators chose, never for strangers. */
  traced?: boolean;
}
export interface OutboundAnswer {
  status: number;
  headers: Headers;
  body: Buffer;
  /** The response came from the cluster's own issuer, by the cluster's CA. */
  atHome?: boolean;
}
/**
 * The issuer of the cluster that this server runs in. A public one is fetched like any other issuer. If that fails, its discovery
 * document and its keys, and no other documents, are fetched with the server's own token, also from a private address. The address must
 * show a certificate of the cluster's CA, so a public issuer never gets the token.
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
  /** Resolves names to addresses; for tests. */
  lookup?: net.LookupFunction;
  /** Receives the details that a failure's public message leaves out. */
  log?: (message: string) => void;
}
export interface Outbound {
  fetch(url: string, options: OutboundRequest): Promise<OutboundAnswer>;
  /** A connection for protocols other than HTTP/1, to an address that the policy permits. @throws OutboundError */
  connect(target: Target): Promise<net.Socket>;
  /** The certificate authorities that TLS over such a connection trusts. */
  secureContext(): tls.SecureContext;
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 10_000;
const CLUSTER_KEYS_PATH = '/openid/v1/jwks';

export function createOutbound({ allow = [], caFile, cluster, lookup, log }: OutboundOptions = {}): Outbound {
  const policy = addressPolicy(allow);
  const agent = guardedAgent({ policy, caFiles: caFile ? [caFile] : [], lookup });
  const extra = caFile ? [readFileSync(caFile, 'utf8')] : [];
  let trusted: tls.SecureContext | undefined;
  const home = cluster && homeOf(cluster);
  const homeAgent = cluster && guardedAgent({ policy: () => true, caFiles: [cluster.caFile], onlyThese: true, lookup });

  async function sendBy(by: typeof agent, url: URL, options: OutboundRequest, headers: Record<string, string> = {}) {
    const { method = 'GET' } = options;
    const attributes = { 'http.request.method': method, 'server.address': url.hostname };
    try {
      return await traced(method, { kind: 'client', within: true, attributes }, async (say) => {
        const trace = options.traced ? traceparent() : undefined;
        const all = { ...headers, ...(trace !== undefined && { traceparent: trace }) };
        const answer = await send(url, options, { dispatcher: await by.get(), headers: all });
        say({ 'http.response.status_code': answer.status });
        return answer;
      });
    } catch (error) {
      const fault = faultOf(error, url.host, options.timeoutMs);
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
    async connect(target) {
      try {
        return await connectTo(policy, target, lookup);
      } catch (error) {
        const fault = faultOf(error, `${target.host}:${target.port}`, target.timeoutMs);
        if (fault.logged !== undefined) log?.(fault.logged);
        throw fault;
      }
    },
    secureContext: () => (trusted ??= trustedAuthorities(extra)),
    async close() {
      await Promise.all([agent.close(), homeAgent?.close()]);
    },
  };
}

/** A CommonJS package imported late has only its default export in a bundle; a named one would be undefined. */
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
 * An agent whose every connection goes to an address that the policy permits. It is created with the first request:
 * undici takes as long to load as the rest of the server, and many servers make no outbound requests.
 */
function guardedAgent({
  policy,
  caFiles,
  onlyThese = false,
  lookup,
}: {
  policy: AddressPolicy;
  caFiles: readonly string[];
  /** Without the public authorities. */
  onlyThese?: boolean;
  lookup?: net.LookupFunction | undefined;
}) {
  // Read now, so that a wrong path fails the start.
  const extra = caFiles.map((file) => readFileSync(file, 'utf8'));
  let made: Promise<Agent> | undefined;

  async function make(): Promise<Agent> {
    const { Agent, buildConnector } = await undici();
    const trust = extra.length === 0 ? {} : { secureContext: trustedAuthorities(extra, { onlyThese }) };
    return new Agent({
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      connect(target, callback) {
        const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80);
        const guarded = guardOf(policy, { host: target.hostname, port }, lookup);
        if ('refusal' in guarded) return callback(guarded.refusal, null);
        const options = { ...trust, allowH2: false, timeout: CONNECT_MS, lookup: guarded.lookup };
        return buildConnector(options)({ ...target, hostname: guarded.host }, callback);
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

function parseUrl(address: string, httpsOnly: boolean): URL {
  const url = URL.parse(address);
  if (!url || !['https:', 'http:'].includes(url.protocol))
    throw new OutboundError('bad-url', 'The address is not a URL');
  if (httpsOnly && url.protocol !== 'https:') throw new OutboundError('bad-url', `${url.host}: only https is allowed`);
  if (url.username !== '' || url.password !== '')
    throw new OutboundError('bad-url', `${url.host}: the address must not hold a user name or password`);
  return url;
}

/** The addresses of the cluster's own issuer, and the headers that are sent only there. */
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
