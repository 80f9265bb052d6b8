// The certificate by which a client proved itself on the TLS connection of a request (RFC 8705): the server's own connection, or that of
// a proxy. client-certificate-source.ts reads it, and is loaded only where the server's operator set one of the two up.
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';

export interface ClientCertificate {
  /** DER. The client has proved this certificate's key; nothing else about it is checked yet. */
  der: Buffer;
  /** Further certificates that came with it, which may lead to an authority. */
  chain: readonly Buffer[];
  /** SHA-256 of the certificate, as `cnf` names it (RFC 8705 §3.1). */
  thumbprint: string;
}

/** undefined: the request came without a certificate, or the certificate can't be read. */
export type ClientCertificateSource = (request: IncomingMessage) => ClientCertificate | undefined;

/** How a proxy writes a client's certificate into a header. */
export const certificateHeaderForms = [
  'rfc9440',
  'nginx',
  'envoy',
  'haproxy',
  'traefik',
  'aws-alb',
  'aws-alb-verify',
] as const;
export type ClientCertificateHeaderForm = (typeof certificateHeaderForms)[number];
export interface ClientCertificateHeader {
  form: ClientCertificateHeaderForm;
  /** In lower case; undefined: the usual one of this form. */
  name: string | undefined;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Absent: the server takes no certificates of clients. */
    clientCertificates?: ClientCertificateSource;
  }
}

export const certificateOf = ({ server, raw }: FastifyRequest): ClientCertificate | undefined =>
  server.clientCertificates?.(raw);
