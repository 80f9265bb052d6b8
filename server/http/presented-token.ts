// A request's access token: by the scheme Bearer (RFC 6750), or by DPoP with the proof of a key (RFC 9449 §7.1); and the certificate that
// the token may be bound to (RFC 8705 §3).
import type { FastifyRequest } from 'fastify';
import { certificateOf } from './client-certificate.ts';

/** A proof of a key, and the request that it must match. */
export interface DpopRequest {
  proof: string;
  method: string;
  path: string;
}
export interface PresentedToken {
  token: string;
  /** Absent: the token came as a bearer token. */
  dpop?: DpopRequest;
  /** The thumbprint of the client's certificate; absent: the request came without one. */
  x5t?: string | undefined;
}

/** The request's proof; undefined: it has none. Two proofs count as an invalid one. */
export function dpopOf({ headers, method, url }: FastifyRequest): DpopRequest | undefined {
  const { dpop } = headers;
  return dpop === undefined ? undefined : { proof: String(dpop), method, path: url.split('?')[0] ?? '' };
}

export function presentedBy(request: FastifyRequest): PresentedToken | undefined {
  const [, scheme, token] = /^(Bearer|DPoP) +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (token === undefined) return undefined;
  const x5t = certificateOf(request)?.thumbprint;
  if (scheme?.toLowerCase() === 'bearer') return { token, x5t };
  return { token, x5t, dpop: dpopOf(request) ?? { proof: '', method: request.method, path: '' } };
}
