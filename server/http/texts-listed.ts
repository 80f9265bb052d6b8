// Generates texts from the English catalogue: the table in the documentation, and the compiler's list of placeholders.
// Pure.
import { formsOf, placeholdersIn, sourceTexts, usualForm } from './languages.ts';

const TABLE = /^\| Key \| Text \|\n(?:\|.*\n)*/m;
const cell = (words: string): string => words.replaceAll('|', '\\|').replaceAll('\n', ' ');

export function textsListed(documentation: string): string {
  if (!TABLE.test(documentation)) throw new Error('docs/texts.md lacks the table that begins with | Key | Text |');
  const rows = Object.entries(sourceTexts).map(([key, text]) => `| \`${key}\` | ${cell(usualForm(text))} |`);
  return documentation.replace(TABLE, () => `${['| Key | Text |', '|---|---|', ...rows].join('\n')}\n`);
}

/** server/http/text-placeholders.ts */
export function placeholdersListed(): string {
  const lines = Object.entries(sourceTexts).flatMap(([key, text]) => {
    const names = [...new Set(formsOf(text).flatMap(placeholdersIn))];
    return names.length === 0 ? [] : `  '${key}': ${names.map((name) => `'${name}'`).join(' | ')};\n`;
  });
  return `// Written by \`npm run generate\` from languages/en.json: the placeholders of each text that has any.
export interface TextPlaceholders {
${lines.join('')}}
`;
}
