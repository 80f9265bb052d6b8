// Owns: that the operator's credentials stay with the server that it was told of.
// Does not own: signing in otherwise (main.test.ts).
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { serverSession } from '../../operator/session.ts';
import { createClient } from '../../server/contract/client.ts';
import { listRealms } from '../../server/contract/realms.ts';

let elsewhere: Server;
let server: Server;
let redirects = '';
const reached: string[] = [];
const listening = async (one: Server): Promise<string> => {
  await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(one.address() as AddressInfo).port}`;
};
let there = '';
let here = '';
beforeAll(async () => {
  elsewhere = createServer((request, answer) => {
    reached.push(`${request.url} ${request.headers.authorization}`);
    answer.setHeader('content-type', 'application/json').end('[]');
  });
  there = await listening(elsewhere);
  server = createServer((request, answer) => {
    const path = request.url ?? '';
    if (path.includes(redirects)) answer.writeHead(307, { location: `${there}${path}` }).end();
    else
      answer
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ token_endpoint: `${here}/realms/master/token`, access_token: 'good', expires_in: 60 }));
  });
  here = await listening(server);
});
afterAll(() => {
  elsewhere?.close();
  server?.close();
});
beforeEach(() => void reached.splice(0));

const session = () => serverSession({ serverUrl: here, credential: { secret: 'of the operator' }, fetch });

test.each(['openid-configuration', 'oauth2/token', '/admin/realms'])(
  'a redirect of %s is told, not followed',
  async (path) => {
    redirects = path;
    const client = createClient({ baseUrl: here, fetch, authorize: session() });
    await expect(client.call(listRealms)).rejects.toThrow(/307/);
    expect(reached).toEqual([]);
  },
);
