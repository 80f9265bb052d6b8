// Owns: the HTTPS listener that asks clients for a certificate, in addition to the server's usual one (RFC 8705 §5).
// Does not own: the requests, which the usual listener's server answers; what a certificate proves (client-certificate-source.ts).
// Implements: mutual TLS without a proxy. Any certificate is accepted here, as each client has authorities of its own.
import { readFile, stat } from 'node:fs/promises';
import type { IncomingMessage, Server } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import { trackConnections } from './connections.ts';
import { requestLimits } from './fastify.ts';

const { createServer } = process.getBuiltinModule('node:https');
const { constants } = process.getBuiltinModule('node:crypto');

export interface MutualTlsOptions {
  host: string;
  port: number;
  certificateFile: string;
  keyFile: string;
}

/** How often the files are looked at: whatever renews a certificate writes them. */
const LOOK_MS = 60_000;

/**
 * The client itself is the other end of the connection, so it wrote every header. A load balancer that passes connections
 * through may have the address of a trusted proxy, but adds no header.
 */
function withoutForwarding({ headers }: IncomingMessage): void {
  for (const name of Object.keys(headers)) if (name.startsWith('x-forwarded-')) delete headers[name];
}

/** @param answers the server whose listeners for `request` answer */
export async function createMutualTls(
  { host, port, certificateFile, keyFile }: MutualTlsOptions,
  { answers, log }: { answers: Server; log: FastifyBaseLogger },
) {
  const files = async () => ({ cert: await readFile(certificateFile), key: await readFile(keyFile) });
  const writtenAt = async () =>
    Math.max(...(await Promise.all([stat(certificateFile), stat(keyFile)])).map((s) => s.mtimeMs));
  let written = await writtenAt();
  const server = createServer(
    {
      ...(await files()),
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
      // A resumed connection would lack the client's chain.
      secureOptions: constants.SSL_OP_NO_TICKET,
      ...requestLimits,
    },
    (request, response) => {
      withoutForwarding(request);
      answers.emit('request', request, response);
    },
  );
  server.on('tlsClientError', (error) => log.debug({ err: error }, 'a TLS handshake failed'));
  const connections = trackConnections(server, { opened: 'secureConnection' });

  const look = async (): Promise<void> => {
    const at = await writtenAt();
    if (at === written) return;
    server.setSecureContext({ ...(await files()), secureOptions: constants.SSL_OP_NO_TICKET, minVersion: 'TLSv1.2' });
    written = at;
    log.info('the certificate of the listener for mutual TLS was read again');
  };
  const looking = setInterval(() => {
    // The files may be half written; the next look reads them again.
    look().catch((err: unknown) => log.warn({ err }, 'the certificate of the listener for mutual TLS can’t be read'));
  }, LOOK_MS).unref();

  return {
    /** @returns the port */
    listen: (): Promise<number> =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host, port }, () => {
          const address = server.address();
          resolve(typeof address === 'object' && address ? address.port : port);
        });
      }),
    look,
    drain: connections.drain,
    async close(): Promise<void> {
      clearInterval(looking);
      if (!server.listening) return;
      await connections.during(() => new Promise<void>((resolve) => void server.close(() => resolve())));
    },
  };
}
export type MutualTls = Awaited<ReturnType<typeof createMutualTls>>;
