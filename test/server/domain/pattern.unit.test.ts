// Owns: patterns that administrators set: they mean what they mean in JavaScript, and take little time whatever they are.
// Does not own: what they are asked for (features/configuration/user-profile.test.ts).
// Implements: decisions "Patterns".
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  createPatternMatcher,
  LONGEST_TEXT,
  loadPatterns,
  patternFault,
  patternSize,
} from '../../../server/domain/pattern.ts';
import { mostOfARequest, processorTime } from '../../support/processor-time.ts';

/** Milliseconds of processor time. */
let most = 0;
beforeAll(async () => {
  await loadPatterns();
  most = await mostOfARequest();
});

const fits = (pattern: string, text: string) => createPatternMatcher()(pattern, text);
const asJavaScript = (pattern: string, text: string) => new RegExp(`^(?:${pattern})$`, 'u').test(text);
const a = (times: number) => 'a'.repeat(times);

describe('a pattern that would take a backtracking engine hours', () => {
  // the engine's own code is compiled on first use, which counts once for a process
  beforeAll(() => {
    for (let i = 0; i < 20; i += 1) fits(`(.*a){${i + 1}}|a{0,${i}}`, `${a(LONGEST_TEXT - 1)}!`);
  });

  test.each([
    ['27 that may be there, and 27 that are', 'a{0,1}'.repeat(27) + a(27), [a(27), a(26), a(LONGEST_TEXT)]],
    ['a repeated repetition', '(a+)+$', [`${a(1000)}!`]],
    ['two ways to the same', '(a|aa)+$', [`${a(1000)}!`]],
    ['anything, 25 times over', '(.*a){25}', [`${a(1000)}!`, 'ab'.repeat(500)]],
    ['anything, as often as there is room for', '(.*a){100}', [`${a(1000)}!`, 'ab'.repeat(500)]],
    ['repetitions of repetitions', '(a{0,20}){0,20}', [`${a(1000)}!`]],
    ['five stars', '(((((a*)*)*)*)*)*b', [a(1000)]],
    ['stars in a row', 'a*a*a*a*a*a*a*a*b', [a(1000)]],
    ['a state for each of 2^200 pasts', '(.*)a.{200}', ['abbab'.repeat(200)]],
    ['letters of all the world', '(\\p{L}{0,100})(\\p{L}|x){0,100}!', ['日é'.repeat(500)]],
    ['alternatives that overlap', '(\\w|[a-c]|\\p{L})*[^a]', [a(1000)]],
  ])('%s is compared in the time that a request may take', async (_, pattern, texts) => {
    expect(patternFault(pattern)).toBeUndefined();
    for (const text of texts) {
      const taken = await processorTime(() => fits(pattern, text), most);
      expect(taken, text.slice(0, 10)).toBeLessThanOrEqual(most);
    }
  });

  test.each([
    ['(a{0,1000}){0,1000}'],
    ['((((((((((a{10}){10}){10}){10}){10}){10}){10}){10}){10}){10})'],
    ['(\\p{L}{0,999})(\\p{L}|x){0,999}'],
    ['a{1001}'],
    ['a{0,99999}'],
    [`${'a{99}'.repeat(42)}`],
    [`(?i:[${'\\S'.repeat(120)}])`],
    [`(?i:[^${'\\S'.repeat(120)}])`],
    [`[${'\\p{L}'.repeat(48)}]`],
    [`(?i:${'[a-\\u{bff}]'.repeat(60)})`],
  ])('%s is refused for its size, before it costs anything', async (pattern) => {
    let fault: string | undefined;
    const judge = () => {
      fault = patternFault(pattern);
    };
    // once: the answer is kept
    const taken = await processorTime(judge, most, 1);
    expect(taken).toBeLessThanOrEqual(most);
    expect(fault).toContain('is too large');
  });

  test.each<[string, (i: number) => string]>([
    ['of large sets that repeat', (i) => `[\\p{L}]{${460 - i}}`],
    ['of many properties', (i) => `[\\p{L}x${i}]`],
    ['of spaces and their opposite, whatever the case', (i) => `(?i:${'\\S\\W\\D'.repeat(30)})${i}`],
    ['of what is no space, whatever the case', (i) => `(?i:[\\S${i}])`],
    ['of all characters, whatever the case', (i) => `(?i:[\\0-\\u{10fff${i % 10}}])${a(i / 10)}`],
    ['of many letters, whatever the case', (i) => `(?i:[a-\\u{bff}][^a-\\u{bff}])${i}`],
  ])('as many patterns %s as a profile may have are ready within 150 ms, and stay so', async (_, make) => {
    const all = () => {
      let together = 0;
      for (let i = 0; i < 200 && together <= 4000; i += 1) together += patternSize(make(i));
    };
    // once: what is ready is kept
    expect(await processorTime(all, 3 * most, 1)).toBeLessThanOrEqual(3 * most);
    expect(await processorTime(all, most / 3)).toBeLessThanOrEqual(most / 3);
  });

  test('of one person, all texts together take no more than one may', async () => {
    const text = 'abbab'.repeat(200);
    let results: (boolean | undefined)[] = [];
    const all = () => {
      const compare = createPatternMatcher();
      results = Array.from({ length: 500 }, () => compare('(.*)[ab].{190}', text));
    };
    expect(await processorTime(all, 5 * most)).toBeLessThanOrEqual(5 * most);
    expect([results[0], results.at(-1)]).toEqual([true, false]);
  });
});

describe('a pattern means what it means in JavaScript', () => {
  const classes = [
    'a',
    'b',
    '.',
    '\\d',
    '\\w',
    '\\s',
    '\\S',
    '\\W',
    '[^a]',
    '[a-c]',
    '[\\s\\d]',
    '[\\S]',
    '\\p{L}',
    '\\P{Lu}',
  ];
  const others = [
    '\\p{Script=Greek}',
    '\\u00e9',
    '\\u{1F600}',
    '\\x41',
    '[[a]',
    '[\\b]',
    '\\.',
    '\\/',
    '[^]',
    '[]',
    '\\cJ',
    '(?i:K)',
  ];
  const atom = fc.constantFrom(...classes, ...others);
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      atom,
      fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => one + other),
      fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(${one}|${other})`),
      tie('pattern').map((one) => `(?<x>${one.replaceAll('(?<x>', '(')})`),
      fc
        .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{2,}', '*?', '+?', '{0,2}?'))
        .map(([one, times]) => `(?:${one})${times}`),
      tie('pattern').map((one) => `^${one}$`),
      tie('pattern').map((one) => `\\b${one}`),
    ),
  }));
  const signs = [
    'a',
    'b',
    'B',
    'k',
    'K',
    '1',
    ' ',
    '_',
    '.',
    '/',
    '\n',
    '\r',
    '\t',
    '\b',
    '\u00a0',
    '\u2028',
    '\ufeff',
    'é',
    'λ',
    'Σ',
    '[',
    '😀',
  ];
  const text = fc.array(fc.constantFrom(...signs), { maxLength: 6 }).map((of) => of.join(''));

  test('for any pattern and text', () => {
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 5, maxLength: 20 }), (of, texts) => {
        // each name may stand once
        fc.pre(of.split('(?<x>').length <= 2);
        for (const one of texts) expect([one, fits(of, one)]).toEqual([one, asJavaScript(of, one)]);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['\\s'],
    ['\\S'],
    ['[^\\s]'],
    ['.'],
    ['\\w'],
    ['\\p{L}'],
    ['\\p{Letter}'],
    ['\\P{Lu}'],
    ['\\p{gc=Nd}'],
    ['\\p{Script=Cyrillic}'],
    ['\\p{Alphabetic}'],
    ['(?i:[a-zß])'],
    ['(?i:\\S)'],
    ['(?i:[\\Sa])'],
    ['[^\\S]'],
  ])('%s has the same characters', (of) => {
    const javaScript = new RegExp(`^(?:${of})$`, 'u');
    const different = Array.from({ length: 0x11_0000 / 7 }, (_, i) => String.fromCodePoint(i * 7 + (i % 7))).filter(
      (sign) => fits(of, sign) !== javaScript.test(sign),
    );
    expect(different).toEqual([]);
  });

  test.each([
    ['(a)\\1', 'back references'],
    ['(?<x>a)\\k<x>', 'back references'],
    ['a(?=b)', 'look-around'],
    ['(?<!a)b', 'look-around'],
    ['(?s:.)', 'flags other than i'],
    ['(', 'is no regular expression'],
    ['a{2,1}', 'is no regular expression'],
  ])('%s is refused: %s', (of, words) => {
    expect(patternFault(of)).toContain(words);
    expect(fits(of, 'a')).toBeUndefined();
  });
});

test('the time grows with the text, for any pattern', async () => {
  const atom = fc.constantFrom('a', 'b', '.', '\\w', '[ab]', '(a|ab)', '(a*)', '(.*a)', '\\p{L}');
  const times = fc.constantFrom('*', '+', '?', '{0,9}', '{7}', '');
  const piece = fc.tuple(fc.array(fc.tuple(atom, times), { minLength: 1, maxLength: 5 }), times);
  const pattern = fc
    .array(piece, { minLength: 1, maxLength: 5 })
    .map((of) => of.map(([inner, after]) => `(?:${inner.map((one) => one.join('')).join('')})${after}`).join(''));
  const text = `${'aab'.repeat(LONGEST_TEXT / 3)}!`;
  await fc.assert(
    fc.asyncProperty(pattern, async (of) => {
      fc.pre(patternFault(of) === undefined);
      expect(await processorTime(() => fits(of, text), most)).toBeLessThanOrEqual(most);
    }),
    // the same patterns in each run: how long one takes is the machine's matter, too
    { numRuns: 300, seed: 1 },
  );
});
