// A proof of work: a number that, behind the page's challenge, gives a SHA-256 with so many leading zero bits. It costs a browser a
// second or two and whoever makes accounts in masses their machines, and calls nobody.
import { sha256 } from '../../crypto/tokens.ts';

const BITS = 16;

export const isWorkDone = (challenge: string, answer: string): boolean =>
  /^\d{1,12}$/.test(answer) && leadingZeros(sha256(`${challenge}.${answer}`)) >= BITS;

function leadingZeros(digest: Buffer): number {
  const first = digest.findIndex((byte) => byte !== 0);
  return first < 0 ? digest.length * 8 : first * 8 + Math.clz32(digest[first] ?? 0) - 24;
}

/** The page's one script: it works while the form is filled in, and holds the form back until it is done. */
export const workScript = `(() => {
const field = document.querySelector('input[data-work]');
const { form, dataset } = field;
const encoder = new TextEncoder();
const isDone = async (answer) => {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(dataset.work + '.' + answer)));
  return digest[0] === 0 && digest[1] === 0;
};
let wanted = false;
form.addEventListener('submit', (event) => {
  if (field.value) return;
  event.preventDefault();
  wanted = true;
});
(async () => {
  for (let answer = 0; ; answer += 1) {
    if (!(await isDone(answer))) continue;
    field.value = String(answer);
    if (wanted) form.requestSubmit();
    return;
  }
})();
})();`;
