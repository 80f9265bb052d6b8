// What ends with the right to act: what would begin, what is in flight, and what has been sent but not received.
import { readFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { request, fetch as undiciFetch } from 'undici';
import { expect, test } from 'vitest';
import { createConnections } from '../../operator/connections.ts';
import { alwaysPermitted, permittedFetch } from '../../operator/runtime/permit.ts';
import { startReceiver } from '../support/receiver.ts';

function withPermit() {
  const acting = new AbortController();
  let granted = true;
  const asked: string[] = [];
  const fetch = permittedFetch({ granted: () => granted, signal: acting.signal }, async (input, init) => {
    asked.push(String(input));
    return new Promise((_, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    });
  });
  const end = () => {
    granted = false;
  };
  return { acting, asked, fetch, end };
}

test('nothing begins without the permit, though no timer has told its end yet', async () => {
  const { asked, fetch, end } = withPermit();
  end();
  await expect(fetch('http://a.test')).rejects.toThrow('does not lead');
  expect(asked).toEqual([]);
});

test('what is in flight ends with the permit, also where it has a signal of its own', async () => {
  const { acting, asked, fetch } = withPermit();
  const all = [fetch('http://a.test'), fetch('http://b.test', { signal: new AbortController().signal })];
  await Promise.resolve();
  acting.abort(new Error('lost'));
  for (const one of all) await expect(one).rejects.toThrow('lost');
  await expect(fetch('http://c.test')).rejects.toThrow('does not lead');
  expect(asked).toEqual(['http://a.test', 'http://b.test']);
});

test('an operator that nobody stands by for always may', async () => {
  const fetch = permittedFetch(alwaysPermitted, async () => new Response('yes'));
  expect(await (await fetch('http://a.test')).text()).toBe('yes');
});

test('what was sent and waits to be received when connections are cut is thrown away, and no end of it comes', async () => {
  const SIZE = 20_000_000;
  const { promise: accepted, resolve: accept } = Promise.withResolvers<Socket>();
  // reads nothing yet, so that most of the body stays where it is
  const server = createServer({ pauseOnConnect: true }, accept);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  const connections = createConnections(alwaysPermitted);
  const dispatcher = connections.dispatcher();
  try {
    const sent = undiciFetch(url, { method: 'POST', body: 'x'.repeat(SIZE), dispatcher });
    const refused = expect(sent).rejects.toThrow('fetch failed');
    const receiver = await accepted;
    await new Promise((resolve) => setTimeout(resolve, 100));
    connections.cut();
    await refused;
    let received = 0;
    const how = new Promise<string>((resolve) => {
      receiver.once('end', () => resolve('end')).once('error', (error) => resolve(error.message));
    });
    receiver.on('data', (chunk) => {
      received += chunk.length;
    });
    receiver.resume();
    expect(await how).toContain('ECONNRESET');
    expect(received).toBeLessThan(SIZE);
  } finally {
    await dispatcher.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
});

test('what waits for its connection when the permit ends is not sent, though no timer has told its end yet', async () => {
  const receiver = await startReceiver();
  let granted = true;
  const permit = { granted: () => granted, signal: new AbortController().signal };
  const dispatcher = createConnections(permit).dispatcher({ ca: await readFile(receiver.caFile, 'utf8') });
  try {
    expect((await request(`${receiver.url}/first`, { dispatcher })).statusCode).toBe(200);
    const waiting = request(`${receiver.url}/second`, { dispatcher, method: 'POST' });
    // as if the process slept here
    granted = false;
    await expect(waiting).rejects.toThrow('does not lead');
    await expect(request(`${receiver.url}/third`, { dispatcher })).rejects.toThrow('does not lead');
    expect(receiver.received.map(({ url }) => url)).toEqual(['/first']);
  } finally {
    await dispatcher.destroy();
    await receiver.stop();
  }
});

test('an address where nobody listens is an error of the request, and nothing else', async () => {
  const dispatcher = createConnections(alwaysPermitted).dispatcher();
  await expect(undiciFetch('http://127.0.0.1:1/', { dispatcher })).rejects.toThrow('fetch failed');
  await dispatcher.destroy();
});
