// Owns: what may not be in a name, wherever one is given.
// Does not own: how names are shown (test/cli/output.unit.test.ts, test/operator/status.unit.test.ts).
// Implements: decisions "Fields that the specification does not show".
import { expect, test } from 'vitest';
import { name } from '../../../server/contract/names.ts';

test.each([
  '\u0000',
  '\n',
  '\u001b[2J',
  '\u007f',
  '\u0085',
  '\u009b2J',
  '\u2028',
  '\u2029',
  '\u202e',
  '\u2066',
  '\u061c',
])('a name cannot hold the control %j', (control) => {
  expect(name().safeParse(`ana${control}b`).success).toBe(false);
});

test.each(['ana', 'Ána Żółć', '安娜', 'a b', '👩‍🚀', 'می\u200cخواهم'])('a name can be %s', (given) => {
  expect(name().safeParse(given).success).toBe(true);
});
