import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { guessableFaults, type PasswordOwner } from '../../../server/contract/guessable-passwords.ts';
import { inEnglish } from '../../../server/contract/phrases.ts';
import {
  commonPasswords,
  createCommonPasswords,
} from '../../../server/features/people/credentials/common-passwords.ts';
import { mostOfARequest, processorTime } from '../../support/processor-time.ts';

const common = createCommonPasswords();
const person = { username: 'user00010', email: 'alice.smith@example.org', firstName: 'Ålice', lastName: 'Liddell' };
async function fault(password: string, owner: PasswordOwner = person): Promise<string> {
  const [found] = guessableFaults(password, owner);
  if (found) return inEnglish(found).includes('rows') ? 'row' : 'name';
  return (await common.has(password, owner)) ? 'common' : 'none';
}

test.each([
  ...['aaaaaaaaaaaa', 'AAAAaaaaAAAA', 'abcdefghijkl', 'zyxwvutsrqpo', '123456789012', '098765432109'],
  ...[
    'qwertyuiop12',
    'poiuytrewq12',
    'asdfghjklasdf',
    '1qaz2wsx3edc',
    '1q2w3e4r5t6y',
    'йцукенгшщзхъ',
    'ａｂｃｄｅｆｇｈｉｊｋｌ',
  ],
  ...[
    'abcabcabcabc',
    'abababababab1',
    'xy1xy1xy1xy1xy1!',
    '111122223333',
    'aabbaabbabab',
    '!@#$%^&*()!@',
    '🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑',
    'aabbccddeeff',
    '٠١٢٣٤٥٦٧٨٩٠١',
    'ａａｂｂｃｃ112233',
  ],
])('%s is a row or a repetition', async (password) => {
  expect(await fault(password)).toBe('row');
});

test.each([
  ...[
    'user00010user',
    'USER00010!!!1',
    'alicealice77',
    'alice19871224',
    'Alice.Smith-22',
    '1234liddell56',
    'example2024!?',
  ],
  ...['4l1c3-2024-!!', 'lleddil-2024', 'AliceSmith!!2024', 'smithsmith12'],
])('%s is the person’s own name with little added', async (password) => {
  expect(await fault(password)).toBe('name');
});

test.each([
  ...[
    'password1234',
    'Password123!',
    'P@ssw0rd1234',
    'passwordpassword',
    '123password123',
    'dragondragon',
    'sunshine2024!',
  ],
  ...['Summer2024!!', 'welcome12345!', 'administrator', 'alicewonderland', '!!football2023'],
  // In other letters: Cyrillic ones, accents, a soft hyphen.
  ...['pаsswоrd1234', 'pässwörd1234', 'pass\u00adword1234', 'contraseña123'],
  // With signs or digits between.
  ...['p.a.s.s.w.o.r.d', 'p a s s w o r d 1', 'pass-word-123', 'password password', 'admin12admin', 'Test1234Test'],
  ...['Willkommen2026', 'Realmkeeper2026'],
])('%s is a common password, or one with little added', async (password) => {
  expect(await fault(password)).toBe('common');
});

test.each([
  ...['three wet umbrellas', 'correct horse battery staple', 'a fine long password', 'alice in wonderland tea'],
  ...[
    'Tr0ub4dor&3xyz',
    'aB3$xY9!kLm2',
    '918273645501',
    'k7Gh2!pq',
    'remarkable smithereens',
    'ein schöner Regenbogen',
    '雨に濡れた三本の傘',
    'дождь идёт по крышам',
    'नदी के किनारे घर',
    'dragon slept in the attic',
    'password manager fan',
    'one two three four five',
    '9f86d081884c',
    'xK9#mP2$vL5q',
  ],
])('%s is fine', async (password) => {
  expect(await fault(password)).toBe('none');
});

test('the names of where it is set are common ones there', async () => {
  const nobody = { username: 'x', email: null };
  const has = (password: string) => common.has(password, nobody, ['zorg', 'Zorg & Söhne']);
  for (const password of ['Zorg2026!!!!', 'zorgzorgzorg', 'ZorgSohne2026', 'zorg-söhne-12'])
    expect([password, await has(password)]).toEqual([password, true]);
  expect(await has('zorg has three umbrellas')).toBe(false);
  expect(await common.has('Zorg2026!!!!', nobody)).toBe(false);
});

test('a name of two letters, or none, is no reason to refuse', async () => {
  const nobody = { username: 'x', email: null, firstName: 'Jo', lastName: '' };
  expect(await fault('joyful umbrellas', nobody)).toBe('none');
});

describe('the list', () => {
  test('has the 100,000 most common passwords, and all long ones of ten times as many', async () => {
    const lines: string[] = [];
    for await (const piece of commonPasswords()) lines.push(...piece);
    expect(lines.slice(0, 3)).toEqual(['123456', 'password', '12345678']);
    expect(lines.length).toBeGreaterThan(130_000);
    const long = lines.filter((line) => line.length >= 12);
    expect(long.length).toBeGreaterThan(40_000);
    const nobody = { username: 'x', email: null };
    for (const password of [...lines.slice(0, 200), ...long.filter((_, i) => i % 500 === 0)])
      expect([password, await common.has(password, nobody)]).toEqual([password, true]);
  });

  test('refuses next to no random password', async () => {
    const signs = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!?-_.+';
    const password = fc.array(fc.constantFrom(...signs), { minLength: 12, maxLength: 20 }).map((of) => of.join(''));
    const refused: string[] = [];
    for (const one of fc.sample(password, { numRuns: 2000, seed: 1 }))
      if ((await fault(one)) !== 'none') refused.push(one);
    expect(refused.length).toBeLessThan(10);
  });
});

test('no password and no names take long', async () => {
  const names = {
    username: 'ab '.repeat(85),
    email: `${'b-c-'.repeat(16)}@${'abc.'.repeat(40)}x`,
    firstName: 'a b c '.repeat(40),
    lastName: '1 2 3 '.repeat(40),
  };
  await fault('x');
  const most = await mostOfARequest();
  for (const piece of ['a', '1', 'ab1!', '!1@2#3', 'abc', 'qwerty9', '0aé日'].flatMap((one) => [one, `${one}x`])) {
    const password = piece.repeat(512 / piece.length);
    const judge = async () => {
      await fault(password, names);
      await common.has(password, names);
    };
    expect(await processorTime(judge, most), piece).toBeLessThanOrEqual(most);
  }
});
