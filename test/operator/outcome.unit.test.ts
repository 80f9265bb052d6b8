// Refusals of the server as outcomes of a resource.
import { expect, test } from 'vitest';
import { outcomeOf } from '../../operator/runtime/outcome.ts';
import { ServerProblem } from '../../server/contract/client.ts';
import { type ProblemCode, problems, problemType } from '../../server/contract/problem.ts';

const refusal = (code: ProblemCode) =>
  new ServerProblem(problems[code].status, 'as the server says', { ...problems[code], type: problemType(code) });

test('a name whose former realm is still being deleted is waited for; one that is taken needs a person', () => {
  expect(outcomeOf(refusal('being-deleted'))).toEqual({
    is: 'Waiting',
    reason: 'BeingDeleted',
    message: 'as the server says',
  });
  expect(outcomeOf(refusal('name-taken'))).toMatchObject({ is: 'Stalled', reason: 'Conflict' });
});
