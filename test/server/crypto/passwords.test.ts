import { pbkdf2Sync, scryptSync } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { hashSync } from '@node-rs/argon2';
import { hashSync as bcrypt } from 'bcryptjs';
import { afterAll, expect, test } from 'vitest';
import { Problem } from '../../../server/contract/problem.ts';
import { createPasswords } from '../../../server/crypto/passwords.ts';
import { usablePhc } from '../../../server/crypto/phc.ts';

const light = { memory: 1024, passes: 1, lanes: 1 };
const passwords = createPasswords({ parameters: light });
afterAll(() => passwords.stop());

const salt = Buffer.from('0123456789abcdef');
const b64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');

test('a password verifies against its hash, another does not, and no two hashes are the same', async () => {
  const [one, two] = await Promise.all([passwords.hash('umbrella'), passwords.hash('umbrella')]);
  expect(one).toMatch(/^\$argon2id\$v=19\$m=1024,t=1,p=1\$/);
  expect(one).not.toBe(two);
  expect(await passwords.verify(one, 'umbrella')).toEqual({ ok: true, rehash: false });
  expect(await passwords.verify(one, 'Umbrella')).toEqual({ ok: false, rehash: false });
  expect(await passwords.verify(passwords.phcForNobody, 'umbrella')).toEqual({ ok: false, rehash: false });
});

const foreign: [string, string][] = [
  ['argon2id with other parameters', hashSync('umbrella', { memoryCost: 2048, timeCost: 2 })],
  ['argon2i', hashSync('umbrella', { memoryCost: 1024, timeCost: 3, algorithm: 1 })],
  ['scrypt', `$scrypt$ln=12,r=8,p=1$${b64(salt)}$${b64(scryptSync('umbrella', salt, 32, { N: 4096 }))}`],
  ['pbkdf2-sha256', `$pbkdf2-sha256$i=5000$${b64(salt)}$${b64(pbkdf2Sync('umbrella', salt, 5000, 32, 'sha256'))}`],
  [
    'pbkdf2-sha512 of passlib',
    `$pbkdf2-sha512$5000$${b64(salt).replaceAll('+', '.')}$${b64(pbkdf2Sync('umbrella', salt, 5000, 64, 'sha512')).replaceAll('+', '.')}`,
  ],
  ['pbkdf2 with sha1', `$pbkdf2$5000$${b64(salt)}$${b64(pbkdf2Sync('umbrella', salt, 5000, 20, 'sha1'))}`],
  ['bcrypt', bcrypt('umbrella', 4)],
  ['bcrypt of PHP', bcrypt('umbrella', 5).replace('$2b$', '$2y$')],
];
test.each(foreign)('a hash from elsewhere stays usable and is to be made anew: %s', async (_, phc) => {
  expect(usablePhc(phc)).toBe(true);
  expect(await passwords.verify(phc, 'umbrella')).toEqual({ ok: true, rehash: true });
  expect(await passwords.verify(phc, 'umbrellas')).toEqual({ ok: false, rehash: false });
});

test('a published vector of bcrypt holds', async () => {
  const phc = '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW';
  expect(await passwords.verify(phc, 'U*U')).toEqual({ ok: true, rehash: true });
});

test.each([
  '',
  'plain text',
  '$2b$15$abcdefghijklmnopqrstuuJ8e1ZQ2Q0Y0a0b0c0d0e0f0g0h0i0j0',
  '$argon2id$v=19$m=99999999,t=2,p=1$AAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  '$argon2id$v=19$m=1024,t=2,p=1$AAAAAAAAAAAAAAAA$AAAA',
  '$argon2id$v=16$m=1024,t=2,p=1$AAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  '$pbkdf2-sha256$i=99999999999$AAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  '$scrypt$ln=30,r=8,p=1$AAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  '$md5$i=1$AAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  '$argon2id$v=19$m=262144,t=16,p=1$c2FsdHNhbHRzYWx0$c2FsdHNhbHRzYWx0c2FsdHNhbHQ',
  '$argon2id$v=19$m=8,t=1,p=16$c2FsdHNhbHRzYWx0$c2FsdHNhbHRzYWx0c2FsdHNhbHQ',
  '$argon2id$v=19$m=19456.5,t=2,p=1$c2FsdHNhbHRzYWx0$c2FsdHNhbHRzYWx0c2FsdHNhbHQ',
  '$scrypt$ln=18,r=32,p=16$c2FsdHNhbHRzYWx0$c2FsdHNhbHRzYWx0c2FsdHNhbHQ',
  '$scrypt$ln=14.5,r=8,p=1$c2FsdHNhbHRzYWx0$c2FsdHNhbHRzYWx0c2FsdHNhbHQ',
  '$scrypt$ln=16,r=1,p=1$c2FsdHNhbHRzYWx0$c2FsdHNhbHRzYWx0c2FsdHNhbHQ',
])('what cannot be checked here, or would cost too much, holds for nobody: %s', async (phc) => {
  expect(usablePhc(phc)).toBe(false);
  expect((await passwords.verify(phc, 'umbrella')).ok).toBe(false);
});

test('where too many wait, the next is sent away with a time to come back; the others are served', async () => {
  const busy = createPasswords({ threads: 1, waitingPerThread: 3, parameters: light });
  const calls = Array.from({ length: 40 }, () => busy.hash('umbrella'));
  const outcomes = await Promise.allSettled(calls);
  const refused = outcomes.filter((o) => o.status === 'rejected').map((o): unknown => o.reason);
  expect(outcomes.length - refused.length).toBeGreaterThanOrEqual(3);
  expect(refused.length).toBeGreaterThanOrEqual(5);
  for (const problem of refused) {
    expect(problem).toBeInstanceOf(Problem);
    if (problem instanceof Problem) expect([problem.code, problem.retryAfterSeconds]).toEqual(['too-many-requests', 2]);
  }
  await busy.stop();
});

test('where people wait, each gets the answer to their own password, whoever is answered together', async () => {
  const busy = createPasswords({ threads: 2, parameters: light });
  const right = await busy.hash('umbrella');
  const typed = Array.from({ length: 25 }, (_, i) => (i % 3 === 0 ? 'umbrella' : `umbrella ${i}`));
  const verdicts = await Promise.all(typed.map((plain) => busy.verify(right, plain)));
  expect(verdicts.map(({ ok }) => ok)).toEqual(typed.map((plain) => plain === 'umbrella'));
  const made = await Promise.all(typed.map((plain) => busy.hash(plain)));
  const held = await Promise.all(made.map((phc, i) => busy.verify(phc, typed[i] ?? '')));
  expect(held.every(({ ok }) => ok)).toBe(true);
  await busy.stop();
});

test('who comes while a few are being answered waits for those at most, not for all who came after', async () => {
  const busy = createPasswords({ threads: 1, parameters: light });
  const answered: number[] = [];
  let coming = 30;
  // Each answer brings another person, so that somebody always waits.
  const person = async (n: number): Promise<void> => {
    await busy.hash('umbrella');
    answered.push(n);
    if (coming > 0) await person(1000 + coming--);
  };
  await Promise.all(Array.from({ length: 8 }, (_, n) => person(n)));
  expect(answered.slice(0, 8)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(answered).toHaveLength(38);
  await busy.stop();
});

const heavy = { memory: 65_536, passes: 4, lanes: 1 };
/** The turns that the event loop made until each answer came, in the order of the calls. */
async function turnsUntil(answers: readonly Promise<unknown>[]): Promise<number[]> {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const each = await Promise.all(answers.map((answer) => answer.then(() => turns)));
  clearInterval(timer);
  return each;
}

// What is answered together comes in one turn, always. A loop that was kept from running sees none either, but not each time.
test('no answer is held back for others for longer than it may be', { retry: 3 }, async () => {
  const slow = createPasswords({ threads: 1, parameters: heavy, heldMs: 10 });
  const turns = await turnsUntil(Array.from({ length: 5 }, () => slow.hash('umbrella')));
  for (const [i, at] of turns.slice(1).entries()) expect(at - (turns[i] ?? 0)).toBeGreaterThan(0);
  await slow.stop();
});

const slowest = `$pbkdf2-sha256$i=800000$${b64(salt)}$${b64(Buffer.alloc(32))}`;

test("what was answered before a hash from elsewhere isn't held back for it", { retry: 3 }, async () => {
  const one = createPasswords({ threads: 1, parameters: light });
  await one.hash('umbrella');
  const before = Array.from({ length: 6 }, () => one.hash('umbrella'));
  const turns = await turnsUntil([...before, one.verify(slowest, 'umbrella')]);
  expect((turns.at(-1) ?? 0) - (turns.at(-2) ?? 0)).toBeGreaterThan(0);
  await one.stop();
});

test.skipIf(availableParallelism() < 2)('nobody is put behind a hash from elsewhere that takes long', async () => {
  const two = createPasswords({ threads: 2, parameters: light });
  // both threads are there
  await Promise.all([two.hash('umbrella'), two.hash('umbrella')]);
  const answered: string[] = [];
  const told = async (name: string, answer: Promise<unknown>) => {
    await answer;
    answered.push(name);
  };
  const slow = told('slow', two.verify(slowest, 'umbrella'));
  await Promise.all([slow, ...Array.from({ length: 24 }, () => told('own', two.hash('umbrella')))]);
  expect(answered).toEqual([...Array.from({ length: 24 }, () => 'own'), 'slow']);
  await two.stop();
});

test.skipIf(availableParallelism() < 2)('many hashes from elsewhere leave a thread to the others', async () => {
  const two = createPasswords({ threads: 2, parameters: light });
  let answered = 0;
  const slow = Array.from({ length: 12 }, async () => {
    await two.verify(slowest, 'umbrella');
    answered += 1;
  });
  await two.hash('umbrella');
  // one more than have begun would do; as many as there are if it were behind them
  expect(answered).toBeLessThan(8);
  await Promise.all(slow);
  await two.stop();
});

test('hashing leaves the event loop free', async () => {
  const slow = createPasswords({ threads: 1, parameters: heavy });
  const [turns] = await turnsUntil([slow.hash('umbrella')]);
  expect(turns).toBeGreaterThan(5);
  await slow.stop();
});

test('stopping finishes what was begun and takes nothing more', async () => {
  const stopping = createPasswords({ threads: 1, parameters: light });
  const begun = [stopping.hash('one'), stopping.hash('two')];
  const stopped = stopping.stop();
  await expect(stopping.hash('three')).rejects.toThrow('stopping');
  await stopped;
  expect((await Promise.all(begun)).every((phc) => phc.startsWith('$argon2id$'))).toBe(true);
});
