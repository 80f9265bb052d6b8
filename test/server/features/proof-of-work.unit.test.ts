// Owns: that what the page's script finds is what the server takes, wherever the number lies in SHA-256's blocks.
// Does not own: forms with a proof of work (self-registration.test.ts), the script in a browser (test/browser/new-password.test.ts).
// Implements: specification 4.2 (self-registration page).
import { expect, test } from 'vitest';
import { isWorkDone, workSearch } from '../../../server/features/authentication/self-registration/proof-of-work.ts';

type Search = (prefix: string, bits: number) => (tries: number) => string | undefined;
const search: Search = new Function(`return ${workSearch}`)();
const BITS = 12;

function found(challenge: string, bits: number): string {
  const next = search(`${challenge}.`, bits);
  for (;;) {
    const answer = next(1000);
    if (answer !== undefined) return answer;
  }
}
const firstFor = (challenge: string) => {
  for (let answer = 0; ; answer += 1) if (isWorkDone(challenge, String(answer), BITS)) return String(answer);
};

test('the script finds the first number that does, behind a challenge of any length', () => {
  // 46 to 54: the number's digits grow over the end of a block.
  for (const length of [0, 1, 43, 46, 49, 50, 51, 52, 53, 54, 55, 62, 63, 64, 110, 200]) {
    const challenge = 'w'.repeat(length);
    expect(found(challenge, BITS)).toBe(firstFor(challenge));
  }
});

test('a number does for so many bits, by its digits alone', () => {
  const answer = found('challenge', 8);
  expect(isWorkDone('challenge', answer, 8)).toBe(true);
  expect(isWorkDone('challenge', answer, 33)).toBe(false);
  for (const other of ['', `${answer} `, `+${answer}`, `${answer}.0`, '1'.repeat(13)])
    expect(isWorkDone('challenge', other, 0)).toBe(false);
});
