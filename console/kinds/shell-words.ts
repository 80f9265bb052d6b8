// Texts in commands that a reader copies into a terminal: names and addresses are other people's, and run nothing there. Pure.

const PLAIN = /^[\w@%+:,./-][\w@%+=:,./-]*$/;
/** Characters that a terminal obeys, or that show another command than the one that runs. */
const OBEYED = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
const codeOf = (character: string): string => (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
const inQuotes = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** As one word of a shell: bash, zsh, ksh. */
export function word(text: string): string {
  if (PLAIN.test(text)) return text;
  if (text.search(OBEYED) < 0) return inQuotes(text);
  const escaped = text.replaceAll(/[\\']/g, '\\$&').replaceAll(OBEYED, (character) => `\\u${codeOf(character)}`);
  return `$'${escaped}'`;
}

/**
 * A command of realmctl. Where an operand begins with `-`, the operands come last, after `--`: realmctl would read it as an option.
 * @param options written as they are given
 */
export function realmctl(verb: string, operands: readonly string[], ...options: readonly string[]): string {
  const words = operands.map(word);
  const isLast = operands.some((operand) => operand.startsWith('-'));
  return ['realmctl', verb, ...(isLast ? [...options, '--', ...words] : [...words, ...options])].join(' ');
}
/** An option with its value; `--user=-x` where the value would be read as an option itself. */
export const option = (name: `--${string}`, value: string): string =>
  `${name}${value.startsWith('-') ? '=' : ' '}${word(value)}`;

/** JSON on several lines, as a file or after `<<'END'`. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(OBEYED, (character) =>
    character === '\n' ? character : `\\u${codeOf(character)}`,
  );
/** The same as one word. */
export const jsonWord = (value: unknown): string => inQuotes(jsonText(value));
