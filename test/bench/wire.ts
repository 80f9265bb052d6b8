// One keep-alive HTTP/1.1 connection that costs the load generator little: requests are ready bytes, answers are only
// cut into status, head and body. Answers must have a content-length, as all of ours do.
import { once } from 'node:events';
import { createConnection } from 'node:net';

export interface WireAnswer {
  status: number;
  head: string;
  body: string;
}

export interface Wire {
  send(request: string): Promise<WireAnswer>;
  /** Sends what `next` gives as soon as the answer before it is there, until it gives undefined. No promise for each. */
  repeat(next: (status: number) => string | undefined, first: string): Promise<void>;
  close(): void;
}

const HEAD_END = '\r\n\r\n';
const READ_BYTES = 64 * 1024;

export async function connect(port: number): Promise<Wire> {
  // One buffer for all that comes: no stream is made of it, which would cost more than reading it.
  const onread = {
    buffer: Buffer.allocUnsafe(READ_BYTES),
    callback(bytes: number): boolean {
      take(onread.buffer.toString('latin1', 0, bytes));
      return true;
    },
  };
  const socket = createConnection({ host: '127.0.0.1', port, noDelay: true, onread });
  await once(socket, 'connect');
  let waiting: { resolve(answer: WireAnswer): void; reject(error: Error): void } | undefined;
  let repeating: ((status: number) => void) | undefined;
  let received = '';
  function take(chunk: string): void {
    received = received === '' ? chunk : received + chunk;
    const headEnd = received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const bodyAt = headEnd + HEAD_END.length;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1] ?? 0);
    if (received.length < bodyAt + length) return;
    const status = Number(received.slice(9, 12));
    if (repeating) {
      received = '';
      repeating(status);
      return;
    }
    const answer = { status, head: received.slice(0, headEnd), body: received.slice(bodyAt, bodyAt + length) };
    received = '';
    const { resolve } = waiting ?? {};
    waiting = undefined;
    resolve?.(answer);
  }
  const gone = (error?: Error) => waiting?.reject(error ?? new Error('the server closed the connection'));
  socket.on('error', gone);
  socket.on('close', () => gone());
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(request);
      }),
    repeat: (next, first) =>
      new Promise((resolve, reject) => {
        const end = (settle: () => void) => {
          repeating = undefined;
          waiting = undefined;
          settle();
        };
        waiting = { resolve: () => {}, reject: (error) => end(() => reject(error)) };
        repeating = (status) => {
          try {
            const request = next(status);
            if (request === undefined) end(resolve);
            else socket.write(request);
          } catch (error) {
            end(() => reject(error));
          }
        };
        socket.write(first);
      }),
    close: () => socket.destroy(),
  };
}

type Headers = Readonly<Record<string, string>>;
const lines = (headers: Headers): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');

export const get = (path: string, headers: Headers = {}): string =>
  `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${lines(headers)}\r\n`;

export function postJson(path: string, value: object, headers: Headers = {}): string {
  const body = JSON.stringify(value);
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${lines(headers)}\r\n${body}`;
}

export function post(path: string, form: Readonly<Record<string, string>>, headers: Headers = {}): string {
  const body = Object.entries(form)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  const type = 'content-type: application/x-www-form-urlencoded';
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${type}\r\ncontent-length: ${body.length}\r\n${lines(headers)}\r\n${body}`;
}
