// Prints the texts that a realm can say in its own words into their documentation. Pure.
import { sourceTexts } from './languages.ts';

const TABLE = /^\| Key \| Text \|\n(?:\|.*\n)*/m;
const cell = (words: string): string => words.replaceAll('|', '\\|').replaceAll('\n', ' ');

export function textsListed(documentation: string): string {
  if (!TABLE.test(documentation)) throw new Error('docs/texts.md lacks the table that begins with | Key | Text |');
  const rows = Object.entries(sourceTexts).map(([key, words]) => `| \`${key}\` | ${cell(words)} |`);
  return documentation.replace(TABLE, () => `${['| Key | Text |', '|---|---|', ...rows].join('\n')}\n`);
}
