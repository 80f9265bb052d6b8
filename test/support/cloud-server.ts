// Owns: a server on loopback that answers as a cloud's key service and its sign-in do, and that can be away or answer otherwise.
// Does not own: the answers (cloud-aws.ts, cloud-google.ts, cloud-azure.ts).
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { freePort } from './free-port.ts';

export interface CloudRequest {
  method: string;
  url: URL;
  headers: IncomingHttpHeaders;
  body: string;
}
export interface CloudAnswer {
  status: number;
  /** Text is sent as it is. */
  body: object | string;
}
export interface CloudServer {
  address: string;
  host: string;
  /** Method and path of every request. */
  asked: string[];
  become(state: 'up' | 'away' | CloudAnswer): Promise<void>;
  stop(): Promise<void>;
}

export async function startCloudServer(
  answer: (request: CloudRequest) => CloudAnswer | Promise<CloudAnswer>,
): Promise<CloudServer> {
  const port = await freePort();
  const host = `127.0.0.1:${port}`;
  const asked: string[] = [];
  let instead: CloudAnswer | undefined;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const url = new URL(request.url ?? '/', `http://${host}`);
    const method = request.method ?? '';
    asked.push(`${method} ${url.pathname}`);
    const got = instead ?? (await answer({ method, url, headers: request.headers, body }));
    response.writeHead(got.status, {
      'content-type': typeof got.body === 'string' ? 'text/plain' : 'application/json',
    });
    response.end(typeof got.body === 'string' ? got.body : JSON.stringify(got.body));
  });
  const open = async () => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const close = async () => {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  await open();
  return {
    address: `http://${host}`,
    host,
    asked,
    async become(state) {
      instead = typeof state === 'object' ? state : undefined;
      if (state === 'away') await close();
      else if (!server.listening) await open();
    },
    stop: close,
  };
}

/** A key that encrypts with further data, as those of AWS and Google do. */
export function cloudKey() {
  const secret = randomBytes(32);
  return {
    encrypt(plain: Buffer, bound: string): Buffer {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', secret, iv).setAAD(Buffer.from(bound));
      return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    /** Undefined: it is not one of this key, or bound to something else. */
    decrypt(bytes: Buffer, bound: string): Buffer | undefined {
      try {
        const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, 12), { authTagLength: 16 });
        decipher.setAAD(Buffer.from(bound)).setAuthTag(bytes.subarray(-16));
        return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
      } catch {
        return undefined;
      }
    },
  };
}
