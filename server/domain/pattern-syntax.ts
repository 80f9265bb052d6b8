// Translates JavaScript's regular expressions (flag u) to RE2's syntax with the same meaning, and measures their size. Pure. A feature
// that RE2 lacks is refused by name.

export class Unsupported extends Error {}

export interface Translated {
  re2: string;
  /** Each character, class and group counts one, as many times as it may repeat. */
  size: number;
  /** In the same unit: the large sets of characters, each counted once, since the engine builds it once. */
  weight: number;
}

/** The weight of a property's characters, which take a third of a millisecond. */
const PROPERTY = 25;
/** In a case-insensitive class, this many neighbouring characters cost as much as one part. Few beyond the first scripts have two cases. */
const NEIGHBOURS = 150;
const MOST_OF_A_RANGE = 400;

/** Code points that JavaScript's \s has, and that its `.` lacks, as ranges for a class. */
const SPACE =
  '\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const NO_SPACE =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';
const ANY = '[^\\n\\r\\x{2028}\\x{2029}]';

/** General categories by their long names; the engine knows the short ones. */
const categories: Readonly<Record<string, string>> = {
  Letter: 'L',
  Uppercase_Letter: 'Lu',
  Lowercase_Letter: 'Ll',
  Mark: 'M',
  Number: 'N',
  Decimal_Number: 'Nd',
  Punctuation: 'P',
  Symbol: 'S',
  Separator: 'Z',
  Other: 'C',
};

const ESCAPE =
  /\\(?:u\{(?<braced>[\da-f]+)\}|u(?<high>d[89ab][\da-f]{2})\\u(?<low>d[c-f][\da-f]{2})|u(?<four>[\da-f]{4})|x(?<two>[\da-f]{2})|c(?<control>[a-z])|(?<property>p)\{(?<of>[^}]*)\}|(?<other>.))/isuy;
const GROUP = /\((?:\?(?:(?<named><[^=!>][^>]*>)|(?<plain>:)|(?<look><?[=!])|(?<flags>[a-z]*(?:-[a-z]*)?):))?/uy;
const QUANTIFIER = /(?:[*+?]|\{(?<least>\d+)(?<open>,(?<most>\d*))?\})\??/uy;

const hex = (digits: string) => `\\x{${digits}}`;

/** @param pattern a valid regular expression of JavaScript with the flag u @throws Unsupported for a feature that RE2 lacks */
export function translated(pattern: string): Translated {
  let at = 0;
  const next = (form: RegExp) => {
    form.lastIndex = at;
    const found = form.exec(pattern);
    if (found) at += found[0].length;
    return found;
  };
  let re2 = '';
  let weight = 0;
  /** For each open group: whether it ignores case. */
  const folding = [false];
  const folds = () => folding.at(-1) === true;
  /** For each open group: its size so far; and the size of the part that a quantifier would repeat. */
  const open = [0];
  let last = 0;
  const add = (written: string, size: number) => {
    re2 += written;
    last = size;
    open.push((open.pop() ?? 0) + size);
  };
  while (at < pattern.length) {
    const sign = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    const slashed = next(ESCAPE);
    if (slashed) {
      if (slashed.groups?.property) weight += PROPERTY;
      add(escaped(slashed, false), 1);
      continue;
    }
    const group = next(GROUP);
    if (group) {
      re2 += groupOf(group.groups ?? {});
      const { flags } = group.groups ?? {};
      folding.push(flags === undefined ? folds() : flags === 'i');
      open.push(0);
      continue;
    }
    const quantifier = next(QUANTIFIER);
    if (quantifier) {
      const { least, open: isOpen, most } = quantifier.groups ?? {};
      const times = least === undefined ? 1 : Math.max(Number(least), Number(most || 0), 1);
      const grown = times * (last + 1) + (isOpen && !most ? 1 : 0);
      open.push((open.pop() ?? 0) - last + grown);
      re2 += quantifier[0];
      last = grown;
      continue;
    }
    if (sign === '[') add(classFrom(), 1);
    else {
      at += sign.length;
      if (sign === ')') {
        const held = (open.pop() ?? 0) + 1;
        folding.pop();
        add(')', held);
      } else add(sign === '.' ? ANY : sign, 1);
    }
  }
  return { re2, size: open.reduce((sum, one) => sum + one, 0), weight };

  function classFrom(): string {
    at += 1;
    const negated = pattern[at] === '^';
    if (negated) at += 1;
    let inside = '';
    while (at < pattern.length && pattern[at] !== ']') {
      const slashed = next(ESCAPE);
      const sign = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
      if (slashed) {
        if (slashed.groups?.property) weight += PROPERTY;
        inside += escaped(slashed, true);
      } else {
        inside += sign === '[' ? '\\[' : sign;
        at += sign.length;
      }
    }
    if (folds()) weight += neighboursIn(inside);
    at += 1;
    if (inside === '') return negated ? '[\\x{0}-\\x{10ffff}]' : '[^\\x{0}-\\x{10ffff}]';
    return `[${negated ? '^' : ''}${inside}]`;
  }
}

const RANGE = /(\\x\{[\da-f]+\}|\\?.)-(\\x\{[\da-f]+\}|\\?.)/gisu;
const codeOf = (sign: string): number =>
  sign.startsWith('\\x{')
    ? Number.parseInt(sign.slice(3, -1), 16)
    : (sign.replace(/^\\(?=.)/su, '').codePointAt(0) ?? 0);

/** @param inside the content of a class, in RE2's syntax */
const neighboursIn = (inside: string): number =>
  inside
    .matchAll(RANGE)
    .map(([, from = '', to = '']) => Math.ceil((codeOf(to) - codeOf(from)) / NEIGHBOURS))
    .reduce((sum, parts) => sum + Math.min(parts, MOST_OF_A_RANGE), 0);

function escaped({ 0: whole, groups = {} }: RegExpExecArray, inClass: boolean): string {
  const { braced, high, low, four, two, control, property, of = '', other = '' } = groups;
  const code = braced ?? four ?? two;
  if (code !== undefined) return hex(code);
  if (high !== undefined && low !== undefined)
    return hex(
      (String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)).codePointAt(0) ?? 0).toString(16),
    );
  if (control !== undefined) return hex(((control.codePointAt(0) ?? 0) % 32).toString(16));
  if (property !== undefined) {
    const name = of.replace(/^(?:Script|sc|General_Category|gc)=/, '');
    return `\\${property}{${categories[name] ?? name}}`;
  }
  if (other === '0') return hex('0');
  if (/[1-9k]/.test(other)) throw new Unsupported('back references');
  if (other === 's') return inClass ? SPACE : `[${SPACE}]`;
  if (other === 'S') return inClass ? NO_SPACE : `[^${SPACE}]`;
  if (other === 'b' && inClass) return hex('8');
  return other === '/' ? '/' : whole;
}

function groupOf({ look, flags }: Record<string, string | undefined>): string {
  if (look !== undefined) throw new Unsupported('look-around');
  if (flags === undefined) return '(?:'; // captured text is never read
  if (flags !== 'i' && flags !== '-i') throw new Unsupported('flags other than i');
  return `(?${flags}:`;
}
