import { readFileSync } from 'node:fs';
import { Duplex } from 'node:stream';
import pg from 'pg';
import { expect, test } from 'vitest';

// server/db/pipeline.ts puts statements into one message by parts of pg that its documentation doesn't promise. Another version of pg
// fails here first: read its lib/query.js, lib/client.js and lib/connection.js beside pipeline.ts, then change what this file expects.
test('pg is the version that the pipeline was written for', () => {
  const manifest = new URL('../../../node_modules/pg/package.json', import.meta.url);
  expect(JSON.parse(readFileSync(manifest, 'utf8')).version).toBe('8.23.1');
});

test('a query of pg has the handlers that the pipeline overrides and calls', () => {
  const handlers = Object.getOwnPropertyNames(pg.Query.prototype);
  expect(handlers).toEqual(
    expect.arrayContaining([
      'submit',
      '_getRows',
      'handleRowDescription',
      'handleDataRow',
      'handleCommandComplete',
      'handleEmptyQuery',
      'handleReadyForQuery',
      'handleError',
    ]),
  );
});

test('a connection of pg notes by name which statements it has sent and which are prepared', () => {
  const sent: string[] = [];
  const stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  const connection = Object.assign(new pg.Connection({ stream: () => stream }), {
    parse: ({ name }: { name: string }) => sent.push(`parse ${name}`),
    bind: () => sent.push('bind'),
    describe: () => sent.push('describe'),
    execute: () => sent.push('execute'),
    sync: () => sent.push('sync'),
    flush: () => sent.push('flush'),
  });
  const query = new pg.Query({ text: 'select 1', name: 'one', values: [] });
  query.submit(connection);
  expect(sent).toEqual(['parse one', 'bind', 'describe', 'execute', 'sync']);
  expect(connection.submittedNamedStatements).toEqual({ one: 'select 1' });
  expect(connection.parsedStatements).toEqual({});
});
