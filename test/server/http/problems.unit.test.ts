import { expect, test } from 'vitest';
import { problemOf } from '../../../server/http/problems.ts';

test('what was deleted at the same moment is not found, rather than a failure of the server', () => {
  const { status, detail } = problemOf(Object.assign(new Error('violates foreign key constraint'), { code: '23503' }));
  expect([status, detail]).toEqual([404, 'What this refers to was deleted meanwhile']);
});
