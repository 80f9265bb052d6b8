// The documentation is an application of its own, made at the first request for it.
import { gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openHttp } from '../../../server/http/fastify.ts';
import { describeRoutes } from '../../../server/http/openapi.ts';

test('where a surface could not be made, the next who asks for the documentation gets it', async () => {
  const http = await openHttp({ log: pino({ level: 'silent' }), trustProxy: false, requests: 'req' });
  let asked = 0;
  const more = async () => {
    asked += 1;
    if (asked === 1) throw new Error('not this time');
    return [];
  };
  const { document } = describeRoutes(http, { baseUrl: 'http://localhost', version: '1', more });
  http.get('/here', { schema: {} }, async () => 'it');
  await expect(document()).rejects.toThrow('not this time');
  expect((await document()).paths).toHaveProperty('/here');
  await document();
  expect(asked).toBe(2);
  await http.close();
});

test('the document is compressed, has a tag by which it is not sent again, and no page is guessed from it', async () => {
  const http = await openHttp({ log: pino({ level: 'silent' }), trustProxy: false, requests: 'req' });
  describeRoutes(http, { baseUrl: 'http://localhost', version: '1', more: async () => [] });
  for (let n = 0; n < 200; n += 1) http.get(`/here/${n}`, { schema: { summary: 'A route' } }, async () => 'it');
  const baseUrl = await http.listen({ port: 0, host: '127.0.0.1' });
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const { request } = await import('node:http');
    const { promise, resolve, reject } = Promise.withResolvers<import('node:http').IncomingMessage>();
    request(`${baseUrl}${path}`, { headers }, resolve).on('error', reject).end();
    const answer = await promise;
    return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(await answer.toArray()) };
  };
  const plain = await get('/v3/api-docs');
  expect(Object.keys(JSON.parse(plain.body.toString()).paths)).toHaveLength(200);
  expect(plain.headers['content-encoding']).toBeUndefined();
  const compressed = await get('/v3/api-docs', { 'accept-encoding': 'br, gzip' });
  expect(compressed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
  expect(gunzipSync(compressed.body).equals(plain.body)).toBe(true);
  expect(compressed.body.length).toBeLessThan(plain.body.length / 5);
  expect((await get('/v3/api-docs', { 'accept-encoding': 'gzip;q=0' })).headers['content-encoding']).toBeUndefined();
  const again = await get('/v3/api-docs', { 'if-none-match': String(plain.headers.etag) });
  expect([again.status, again.body.length]).toEqual([304, 0]);
  for (const path of ['/v3/api-docs', '/swagger-ui/', '/swagger-ui/static/swagger-ui-bundle.js', '/swagger-ui/none'])
    expect([path, (await get(path)).headers['x-content-type-options']]).toEqual([path, 'nosniff']);
  await http.close();
});
