// What the code gives as its reason can be read: the decisions, the design and the specification are in the repository.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const sources = ['server', 'operator', 'cli', 'quickstart', 'test'].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.join(folder, file)),
);

/** Headings and bold words of a page: what a comment may name. */
const namesIn = (page: string): Set<string> =>
  new Set([
    ...[...page.matchAll(/^#+ (.+)$/gm)].map((match) => match[1] ?? ''),
    ...[...page.matchAll(/(?<=^|[\s(])\*\*([^*\n]+?)[.:]?\*\*/gm)].map((match) => match[1] ?? ''),
  ]);

/** The names behind the word, several with commas between them. */
const quoted = (text: string, word: string): string[] =>
  [...text.matchAll(new RegExp(`\\b${word}:? ((?:"[^"\\n]+"(?:, )?)+)`, 'gi'))].flatMap((match) =>
    [...(match[1] ?? '').matchAll(/"([^"]+)"/g)].map((name) => name[1] ?? ''),
  );

test.each(['decisions', 'design'])('every name of the %s that a comment gives stands there', (word) => {
  const known = namesIn(read(`docs/${word}.md`));
  const lost = sources.flatMap((file) =>
    quoted(read(file), word)
      .filter((name) => !known.has(name))
      .map((name) => `${file}: ${word} "${name}"`),
  );
  expect(lost).toEqual([]);
});

test('every section of the specification that a comment gives stands there', () => {
  const known = new Set([...read('docs/specification.md').matchAll(/^#+ (\d+(?:\.\d+)?)/gm)].map((match) => match[1]));
  const lost = sources.flatMap((file) =>
    [...read(file).matchAll(/\bspecification (\d+(?:\.\d+)?)/gi)]
      .map((match) => match[1])
      .filter((section) => !known.has(section))
      .map((section) => `${file}: specification ${section}`),
  );
  expect(lost).toEqual([]);
});

test('no comment gives as its reason what is not in the repository', () => {
  const lost = sources.filter((file) => !file.includes('references.unit') && /\bissue "/i.test(read(file)));
  expect(lost).toEqual([]);
});
