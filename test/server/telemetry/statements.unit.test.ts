import { expect, test } from 'vitest';
import { statementName } from '../../../server/telemetry/statements.ts';

test.each([
  ['begin', 'begin'],
  ['select 1', 'select'],
  ['select id from app_user where realm_id = $1', 'select app_user'],
  ['\n  insert into event (a) values ($1)', 'insert event'],
  ['update realm set revision = revision + 1', 'update realm'],
  ['delete from session where id = $1', 'delete session'],
  ['with w as (select x from client) insert into webhook_delivery select * from w', 'select client'],
])('%j is %s', (text, name) => {
  expect(statementName(text)).toBe(name);
});
