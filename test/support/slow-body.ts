// Owns: a request over a TCP connection of its own whose body comes in pieces, at the pace that a test says.
// Does not own: who sends it (signed-in.ts, transfer.ts).
// Implements: tests of how long a body may take.
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface SlowRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  pieces: number;
  /** Between two pieces. */
  everyMs: number;
  /** So many pieces come, and then none. */
  stallsAfter?: number;
}

/** The answer's status and text, once the server has closed the connection; status 0: it closed it without any. */
export async function sendSlowly({ url, headers, body, pieces, everyMs, stallsAfter = pieces }: SlowRequest) {
  const { hostname, port, host, pathname, search } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port) });
  let text = '';
  socket.on('data', (data) => (text += String(data)));
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  const bytes = Buffer.from(body);
  const all = { host, connection: 'close', ...headers, 'content-length': String(bytes.length) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`);
  const size = Math.ceil(bytes.length / pieces);
  for (let i = 0; i < Math.min(pieces, stallsAfter) && !socket.destroyed && text === ''; i += 1) {
    socket.write(bytes.subarray(i * size, (i + 1) * size));
    await sleep(everyMs);
  }
  await closed;
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
  return { status, text };
}
