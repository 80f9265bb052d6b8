// A token request of HTTP, as every token endpoint takes it.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Dpop } from '../../../domain/dpop.ts';
import { certificateOf } from '../../../http/client-certificate.ts';
import { formOf, realmOf } from '../../../http/oauth.ts';
import { dpopOf } from '../../../http/presented-token.ts';
import type { TokenRequest } from './service.ts';

/** The answer to a request with a proof of a key has the nonce for the next proof (RFC 9449 §8.2). */
export function tokenRequestOf(request: FastifyRequest, reply: FastifyReply, dpop: Pick<Dpop, 'nonce'>): TokenRequest {
  const realm = realmOf(request);
  const proof = dpopOf(request);
  if (proof) void reply.header('dpop-nonce', dpop.nonce(realm));
  return {
    realm,
    authorization: request.headers.authorization,
    form: formOf(request),
    ipAddress: request.ip,
    dpop: proof,
    certificate: certificateOf(request),
  };
}
