// A proof of work: the browser searches a number that, appended to the page's challenge, gives a SHA-256 with many leading
// zero bits. This costs one browser a moment and mass registration many machines, and needs no external service. Checking
// costs one hash.
import { sha256 } from '../../../crypto/tokens.ts';

/** @param bits the number of leading zero bits that are needed */
export const isWorkDone = (challenge: string, answer: string, bits: number): boolean =>
  /^\d{1,12}$/.test(answer) && leadingZeros(sha256(`${challenge}.${answer}`)) >= bits;

function leadingZeros(digest: Buffer): number {
  const first = digest.findIndex((byte) => byte !== 0);
  return first < 0 ? digest.length * 8 : first * 8 + Math.clz32(digest[first] ?? 0) - 24;
}

/**
 * The source of the page's search function: (text before the number, in ASCII; bits) returns a function that tries more
 * numbers and returns the one that fits. It implements SHA-256 (FIPS 180-4) itself, because the browser's own one answers
 * one call after another and is twelve times slower.
 */
export const workSearch = `(prefix, bits) => {
const primes = [];
for (let n = 2; primes.length < 64; n += 1) if (primes.every((prime) => n % prime)) primes.push(n);
const fraction = (root) => ((root % 1) * 2 ** 32) | 0;
const constants = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));
const initial = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));
const words = new Int32Array(64);
const hash = new Int32Array(8);
const turned = (word, by) => (word >>> by) | (word << (32 - by));
const compress = (view, at) => {
  for (let i = 0; i < 16; i += 1) words[i] = view.getInt32(at + i * 4);
  for (let i = 16; i < 64; i += 1) {
    const x = words[i - 15];
    const y = words[i - 2];
    words[i] = words[i - 16] + words[i - 7]
      + (turned(x, 7) ^ turned(x, 18) ^ (x >>> 3)) + (turned(y, 17) ^ turned(y, 19) ^ (y >>> 10));
  }
  let a = hash[0], b = hash[1], c = hash[2], d = hash[3], e = hash[4], f = hash[5], g = hash[6], h = hash[7];
  for (let i = 0; i < 64; i += 1) {
    const t = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + words[i]) | 0;
    const u = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g; g = f; f = e; e = (d + t) | 0; d = c; c = b; b = a; a = (t + u) | 0;
  }
  hash[0] += a; hash[1] += b; hash[2] += c; hash[3] += d; hash[4] += e; hash[5] += f; hash[6] += g; hash[7] += h;
};
let answer = 0;
let bytes, view, last;
const write = () => {
  const text = prefix + answer;
  bytes = new Uint8Array(Math.ceil((text.length + 9) / 64) * 64);
  view = new DataView(bytes.buffer);
  new TextEncoder().encodeInto(text, bytes);
  bytes[text.length] = 128;
  view.setUint32(bytes.length - 4, text.length * 8);
  last = text.length - 1;
};
write();
return (tries) => {
  for (let i = 0; i < tries; i += 1) {
    hash.set(initial);
    for (let at = 0; at < bytes.length; at += 64) compress(view, at);
    if (Math.clz32(hash[0]) >= bits) return String(answer);
    answer += 1;
    let at = last;
    for (; at >= prefix.length && bytes[at] === 57; at -= 1) bytes[at] = 48;
    if (at < prefix.length) write();
    else bytes[at] += 1;
  }
};
}`;

/**
 * The search runs while the user fills in the form, a few milliseconds at a time, and delays the submit until it is done.
 */
export const workScript = `(() => {
const field = document.querySelector('input[data-work]');
const said = document.querySelector('[data-working]');
const { form, dataset } = field;
const search = (${workSearch})(dataset.work + '.', Number(dataset.bits));
let wanted = false;
form.addEventListener('submit', (event) => {
  if (field.value) return;
  event.preventDefault();
  wanted = true;
  said.textContent = said.dataset.working;
});
const { port1, port2 } = new MessageChannel();
port1.onmessage = () => {
  const until = performance.now() + 8;
  let answer;
  while (answer === undefined && performance.now() < until) answer = search(200);
  if (answer === undefined) return port2.postMessage(0);
  field.value = answer;
  if (wanted) form.requestSubmit();
};
port2.postMessage(0);
})();`;
