import { Writable } from 'node:stream';
import Fastify, { type FastifyBaseLogger } from 'fastify';
import pino from 'pino';
import { expect, test } from 'vitest';
import { requestLog } from '../../../server/http/request-log.ts';

test('a line that a request writes carries its id, and its level is that of the server', async () => {
  const lines: string[] = [];
  const stream = new Writable({ write: (chunk, _, done) => done(void lines.push(String(chunk))) });
  const loggerInstance: FastifyBaseLogger = pino({ level: 'info' }, stream);
  const app = Fastify({ loggerInstance, childLoggerFactory: requestLog, genReqId: () => 'the-id' });
  app.get('/', async (request) => {
    request.log.error({ err: new Error('bad') }, 'it failed');
    request.log.debug('not seen');
    request.log.child({ more: 1 }).info('more');
    return request.log.level;
  });
  expect((await app.inject('/')).body).toBe('info');
  await app.close();
  const own = lines.map((line) => JSON.parse(line)).filter((line) => line.msg === 'it failed' || line.msg === 'more');
  expect(own).toMatchObject([
    { reqId: 'the-id', level: 50, err: { message: 'bad' } },
    { reqId: 'the-id', level: 30, more: 1 },
  ]);
  expect(lines.join('')).not.toContain('not seen');
});
