// Owns: the guard against SSRF, for every protocol: it checks the dialled IP address when a connection is made, so DNS rebinding has
// no effect. Does not own: which addresses those are (outbound-addresses.ts).
// Implements decisions "Webhooks" (the same guard covers every outbound request) and specification 5 rule 5.
import { lookup as systemLookup } from 'node:dns';
import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { errorWords, speaksNoTls } from '../contract/error-words.ts';
import type { AddressPolicy } from './outbound-addresses.ts';

/** The time limit for establishing a connection. */
export const CONNECT_MS = 5_000;

export type OutboundFault = 'bad-url' | 'refused-address' | 'timed-out' | 'too-large' | 'failed';

/**
 * Why there is no response. The message may be shown to an administrator of any realm, so it doesn't contain a host's
 * address in the internal network; the log does.
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

/** A DNS look-up that returns only permitted addresses; the connection goes to one of these. */
function guarded(lookup: net.LookupFunction, permits: (address: string) => boolean): net.LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found, family) => {
      if (error) return callback(refused(hostname, errorWords(error)), [], 0);
      const all = Array.isArray(found) ? found : [{ address: found, family: family ?? net.isIP(found) }];
      const good = all.filter(({ address }) => permits(address));
      const [first] = good;
      if (!first) return callback(refused(hostname, notPublic(all.map((a) => a.address))), [], 0);
      return options.all ? callback(null, good) : callback(null, first.address, first.family);
    });
  };
}

const notPublic = (addresses: readonly string[]) => `at ${addresses.join(', ') || 'no address'}, which is not public`;

/**
 * One message for an unknown name, for an address of the internal network, and for an address without a listener; only
 * the log distinguishes them.
 */
const unreached = (fault: OutboundFault, host: string, more: { cause?: unknown; logged: string }) =>
  new OutboundError(
    fault,
    `${host} does not answer, or is at no public address; SVC_OUTBOUND_ALLOW could permit it`,
    more,
  );
const refused = (host: string, why: string) => unreached('refused-address', host, { logged: `${host}: ${why}` });

/** The host in net's form and a look-up of permitted addresses; or why the host may not be reached. */
export function guardOf(
  policy: AddressPolicy,
  { host, port }: { host: string; port: number },
  lookup: net.LookupFunction = systemLookup,
): { host: string; lookup: net.LookupFunction } | { refusal: OutboundError } {
  const bare = host.replace(/^\[|\]$/g, '');
  const permits = (address: string) => policy({ host, port, address });
  // net.connect does no look-up for an address, so it is checked here.
  if (net.isIP(bare) > 0 && !permits(bare)) return { refusal: refused(host, notPublic([bare])) };
  return { host: bare, lookup: guarded(lookup, permits) };
}

export interface Target {
  host: string;
  port: number;
  timeoutMs: number;
}
/** @throws the errors that faultOf converts */
export async function connectTo(
  policy: AddressPolicy,
  target: Target,
  lookup: net.LookupFunction | undefined,
): Promise<net.Socket> {
  const guard = guardOf(policy, target, lookup);
  if ('refusal' in guard) throw guard.refusal;
  const socket = net.connect({ host: guard.host, port: target.port, lookup: guard.lookup });
  const late = AbortSignal.timeout(Math.min(target.timeoutMs, CONNECT_MS));
  try {
    await once(socket, 'connect', { signal: late });
    return socket;
  } catch (error) {
    socket.destroy();
    throw late.aborted ? late.reason : error;
  }
}

/** One context for all: parsing the public authorities anew for each connection takes longer than the handshake. */
export const trustedAuthorities = (extra: readonly string[], { onlyThese = false } = {}): tls.SecureContext =>
  tls.createSecureContext({ ca: [...(onlyThese ? [] : tls.getCACertificates('default')), ...extra] });

/** @param of `host:port`, for the message */
export function faultOf(error: unknown, of: string, timeoutMs: number): OutboundError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof OutboundError) return cause;
  if (error instanceof Error && error.name === 'TimeoutError')
    return new OutboundError('timed-out', `${of} did not answer within ${timeoutMs} ms`, { cause: error });
  const each = error instanceof AggregateError ? error.errors : [error];
  const words = (say: (error: unknown) => string) => `${of}: ${[...new Set(each.map(say))].join('; ')}`;
  const more = { cause: error, logged: words(errorWords) };
  if (each.every(isOfConnection)) return unreached('failed', hostOf(of), more);
  return new OutboundError('failed', words(wordsOf), more);
}

const hostOf = (of: string): string => of.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');

/** Whether the system failed the connection, or undici's connect timeout. Such errors contain the IP addresses of the host. */
const isOfConnection = (error: unknown): boolean =>
  error instanceof Error && ('syscall' in error || ('code' in error && error.code === 'UND_ERR_CONNECT_TIMEOUT'));

function wordsOf(error: unknown): string {
  if (!(error instanceof Error) || isOfConnection(error)) return 'the request failed';
  const code = 'code' in error ? String(error.code) : undefined;
  if (code !== undefined && speaksNoTls(code)) return 'it speaks no TLS at this port';
  // OpenSSL's message names its source files; its reason is what went wrong
  if (code?.startsWith('ERR_SSL_') && 'reason' in error) return `TLS failed: ${error.reason}`;
  return error.message || (code ?? 'the request failed');
}
