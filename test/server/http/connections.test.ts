// A stopping server finishes requests, and no client can hold it by a connection that says nothing or takes nothing.
import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { trackConnections } from '../../../server/http/connections.ts';
import { startTestServer } from '../../support/server.ts';

test('a connection that never carried a request does not hold the stop', async () => {
  const server = await startTestServer();
  const socket = connect(server.config.SVC_PORT, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  const gone = once(socket, 'close');
  await server.stop();
  await gone;
});

test.each(['/actuator/health/liveness', '/realms/master/.well-known/openid-configuration'])(
  'while the server drains, an answer of %s is the last of its connection',
  async (path) => {
    const server = await startTestServer({ env: { SVC_DRAIN_SECONDS: '10' } });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async () => {
      const [answer]: IncomingMessage[] = await once(get(`${server.baseUrl}${path}`, { agent }), 'response');
      await once(answer?.resume() ?? server.app.http.server, 'end');
      return [answer?.statusCode, answer?.headers.connection];
    };
    expect(await ask()).toEqual([200, 'keep-alive']);
    const stopped = server.stop();
    expect(await ask()).toEqual([200, 'close']);
    await stopped;
    agent.destroy();
  },
);

/** A server that answers when the test says so; where it listens. */
async function slowServer(graceMs?: number) {
  const server = createServer();
  const connections = trackConnections(server, { ...(graceMs !== undefined && { graceMs }) });
  const asked = once(server, 'request');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const answer = fetch(`http://127.0.0.1:${port}/`).then(
    (response) => response.text(),
    () => 'cut off',
  );
  const [, response] = await asked;
  const stop = () => connections.during(() => new Promise((resolve) => server.close(resolve)));
  return { answer, response, stop };
}

test('a request that is being answered is finished first', async () => {
  const { answer, response, stop } = await slowServer();
  const stopping = stop();
  // as Fastify does while it closes
  response.setHeader('connection', 'close');
  response.end('done');
  await stopping;
  expect(await answer).toBe('done');
});

test('an answer that doesn’t come to its end in time is cut off', async () => {
  const { answer, stop } = await slowServer(50);
  await stop();
  expect(await answer).toBe('cut off');
});
