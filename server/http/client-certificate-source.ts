// Owns: reading a client's certificate from the server's own TLS connection, or from the header of a proxy that ended the connection.
// Does not own: what the certificate proves (features/protocol/client-authentication), the listener (mutual-tls.ts).
// Implements: RFC 8705 §6.5, RFC 9440. A request has one source: on a TLS connection no header counts, and on any other one only the
// configured header of a configured proxy that is itself the other end of the connection.
import type { IncomingMessage } from 'node:http';
import { type DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { sha256 } from '../crypto/tokens.ts';
import type {
  ClientCertificate,
  ClientCertificateHeader,
  ClientCertificateHeaderForm,
  ClientCertificateSource,
} from './client-certificate.ts';
import { insideOf } from './network.ts';

/** The most certificates of a chain that are read. */
const MOST = 10;

const PEM = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g;
const BASE64 =
  /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$|^[A-Za-z0-9+/]{2}==$|^[A-Za-z0-9+/]{3}=$/;
/** The first byte of a certificate in DER: a SEQUENCE. */
const SEQUENCE = 0x30;

/** @throws for what is no certificate in base64 */
function decoded(base64: string): Buffer {
  const der = BASE64.test(base64) ? Buffer.from(base64, 'base64') : Buffer.alloc(0);
  if (der[0] !== SEQUENCE) throw new Error('not a certificate');
  return der;
}

/** The certificates of a PEM text, between which there is only white space. */
function inPem(text: string): Buffer[] {
  if (text.replaceAll(PEM, '').trim() !== '') throw new Error('not PEM alone');
  return [...text.matchAll(PEM)].map(([, base64 = '']) => decoded(base64.replaceAll(/\s/g, '')));
}

const inUrlEncodedPem = (text: string): Buffer[] => inPem(decodeURIComponent(text));

/** RFC 8941 §3.3.5: bytes between colons. */
function bytesItem(text: string): Buffer {
  const base64 = /^:([^:]*):$/.exec(text.trim())?.[1];
  if (base64 === undefined) throw new Error('not a byte sequence');
  return decoded(base64);
}

/** The pairs of an element of `X-Forwarded-Client-Cert`; several elements name the clients of several proxies. */
function forwardedByEnvoy(text: string): Map<string, string> {
  const pairs = new Map<string, string>();
  const pair = /([A-Za-z]+)=("(?:[^"\\]|\\.)*"|[^",;=]*)(;|$)/y;
  while (pair.lastIndex < text.length) {
    const [, name = '', value = ''] = pair.exec(text) ?? [];
    const key = name.toLowerCase();
    // Only URI and DNS may come more than once, and neither is read.
    if (key === '' || (pairs.has(key) && /^(cert|chain|hash)$/.test(key))) throw new Error('not one element');
    pairs.set(key, value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value);
  }
  return pairs;
}

/** The value of a header that came on exactly one line; undefined: it did not come. @throws for several lines */
type Line = (name: string) => string | undefined;

/** @returns the certificates, the client's own first; empty: none came */
const forms: Record<ClientCertificateHeaderForm, (line: Line, name: string | undefined) => Buffer[]> = {
  rfc9440(line) {
    const own = line('client-cert');
    if (own === undefined) return [];
    const chain = line('client-cert-chain');
    return [bytesItem(own), ...(chain === undefined ? [] : chain.split(',').map(bytesItem))];
  },
  nginx: (line, name = 'ssl-client-cert') => inUrlEncodedPem(line(name) ?? ''),
  envoy(line) {
    const pairs = forwardedByEnvoy(line('x-forwarded-client-cert') ?? '');
    const [own, chain] = [inUrlEncodedPem(pairs.get('cert') ?? ''), inUrlEncodedPem(pairs.get('chain') ?? '')];
    const all = own.length > 0 ? [...own, ...chain] : chain;
    // Envoy writes names of the certificate without escaping them, so a name may contain a pair such as `;Cert=`. The digest
    // comes from Envoy alone: a second one is refused.
    if (all[0] && sha256(all[0]).toString('hex') !== pairs.get('hash')?.toLowerCase())
      throw new Error('not the certificate of the connection');
    return all;
  },
  haproxy(line, name = 'x-ssl-client-der') {
    const own = line(name);
    return own === undefined ? [] : [decoded(own)];
  },
  traefik(line) {
    const all = line('x-forwarded-tls-client-cert');
    // Older versions encode it as nginx does.
    return all === undefined ? [] : decodeURIComponent(all).split(',').map(decoded);
  },
  // Each mode of the load balancer sets one of these headers. A client could send the other one.
  'aws-alb': (line) => inUrlEncodedPem(line('x-amzn-mtls-clientcert') ?? ''),
  'aws-alb-verify': (line) => inUrlEncodedPem(line('x-amzn-mtls-clientcert-leaf') ?? ''),
};

const certificateFrom = ([der, ...chain]: readonly Buffer[]): ClientCertificate | undefined =>
  der && { der, chain: chain.slice(0, MOST), thumbprint: sha256(der).toString('base64url') };

function fromHeader(
  { headersDistinct }: IncomingMessage,
  { form, name }: ClientCertificateHeader,
): ClientCertificate | undefined {
  const line: Line = (header) => {
    const lines = headersDistinct[header] ?? [];
    // A client may have sent one itself, which the proxy did not remove.
    if (lines.length > 1) throw new Error('several lines');
    return lines[0] === '' ? undefined : lines[0];
  };
  try {
    return certificateFrom(forms[form](line, name));
  } catch {
    return undefined;
  }
}

function fromConnection(socket: TLSSocket): ClientCertificate | undefined {
  const own: Partial<DetailedPeerCertificate> = socket.getPeerCertificate(true);
  const found: Buffer[] = [];
  let one: Partial<DetailedPeerCertificate> | undefined = own;
  // The last one names itself as its issuer.
  while (one?.raw && found.length <= MOST && !found.some((other) => one?.raw?.equals(other))) {
    found.push(one.raw);
    one = one.issuerCertificate;
  }
  return certificateFrom(found);
}

/** @param header undefined: no proxy sends certificates */
export function createClientCertificateSource({
  header,
}: {
  header: (ClientCertificateHeader & { proxies: readonly string[] }) | undefined;
}): ClientCertificateSource {
  const isProxy = insideOf(header?.proxies ?? []);
  /** By connection, which keeps its certificate, or by request. */
  const known = new WeakMap<object, { certificate: ClientCertificate | undefined }>();

  function read(request: IncomingMessage): ClientCertificate | undefined {
    const { socket } = request;
    if (socket instanceof TLSSocket) return fromConnection(socket);
    return header && isProxy(socket.remoteAddress ?? '') ? fromHeader(request, header) : undefined;
  }
  return (request) => {
    const key = request.socket instanceof TLSSocket ? request.socket : request;
    let found = known.get(key);
    if (!found) {
      found = { certificate: read(request) };
      known.set(key, found);
    }
    return found.certificate;
  };
}
