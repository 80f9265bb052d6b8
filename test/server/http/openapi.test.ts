// The documentation is an application of its own, made when somebody first asks for it.
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
