// Owns: a way between two programs that notes what goes over it, and that a test can cut.
// Does not own: either end; it changes nothing on the way.
import { createServer, request } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';

export interface NotedRequest {
  at: number;
  method: string;
  url: string;
}

/** An HTTP way to `target` that notes every request as it comes. */
export async function startRecorder(target: string) {
  const requests: NotedRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    requests.push({ at: Date.now(), method: incoming.method ?? '', url: incoming.url ?? '' });
    const onward = request(new URL(incoming.url ?? '/', target), {
      method: incoming.method,
      headers: incoming.headers,
    });
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    requests,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
export type Recorder = Awaited<ReturnType<typeof startRecorder>>;

/**
 * A TCP way to `port` of `host`. While it is frozen nothing goes through, and neither end notices.
 * @param opened called for each connection; the function that it returns gets the data that is sent on it
 */
export async function startRelay(
  port: number,
  opened: () => (chunk: Buffer) => void = () => () => {},
  host = '127.0.0.1',
) {
  const ends = new Set<Socket>();
  let frozen = false;
  const server = createTcpServer((near) => {
    const far = connect(port, host);
    near.on('data', opened());
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from);
      if (frozen) from.pause();
      from.on('data', (chunk) => {
        if (!to.write(chunk)) from.pause();
      });
      to.on('drain', () => {
        if (!frozen) from.resume();
      });
      from.on('end', () => to.end());
      from.on('error', () => to.destroy());
      from.on('close', () => {
        ends.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: portOf(server.address()),
    freeze() {
      frozen = true;
      for (const end of ends) end.pause();
    },
    thaw() {
      frozen = false;
      for (const end of ends) end.resume();
    },
    async stop() {
      for (const end of ends) end.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
export type Relay = Awaited<ReturnType<typeof startRelay>>;

function portOf(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
