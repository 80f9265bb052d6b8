import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const programs = ['server', 'operator', 'quickstart', 'cli'];
const under = (folder: string): string[] =>
  readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true }).map((entry) =>
    path.relative(root, path.join(entry.parentPath, entry.name)),
  );
const everything = [...readdirSync(root), ...[...programs, 'test', 'docs', 'crds', 'deploy'].flatMap(under)];
const places = new Set(everything);
/** Every path, and every end of one that begins at a folder: `domain/proof.ts` is a place, `proof.ts` is none. */
const ends = new Set(
  everything.flatMap((place) => {
    const parts = place.split('/');
    return parts.slice(0, -1).map((_, i) => parts.slice(i).join('/'));
  }),
);
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const code = everything.filter((file) => programs.includes(file.split('/')[0] ?? '') && file.endsWith('.ts'));

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;
const wordsOf = (text: string) => new Set(text.replace(COMMENT, ' ').match(/[A-Za-z_$][\w$]*/g));
/** Words of all programs and of SQL, whose functions comments name, too. */
const words = wordsOf(
  everything
    .filter((file) => /\.(?:ts|sql)$/.test(file))
    .map(read)
    .join('\n'),
);
/** Of the database migrations' names, which have a number in its place. */
const PATTERNS = new Set(['NNNN_words.sql']);
const FILE = /(?<![\w./<>-])(?:\.{1,2}\/)?(?:[\w-]+\/)*[\w.-]+\.(?:ts|sql|mjs)\b(?!\.\w)/g;
const FOLDER = /(?<![\w./<>-])(?:(?:server\/)?features|server|operator)\/[\w-]+(?:\/[\w-]+)*\/?(?![\w/<*-]|\.\w)/g;

/** A file's bare name is of the same folder or the root's; what is elsewhere is named with its folder. */
function isPlace(named: string, from: string): boolean {
  const place = named.replace(/\/$/, '');
  if (place.startsWith('.')) return places.has(path.normalize(path.join(from, place)));
  return place.includes('/')
    ? ends.has(place) || places.has(place)
    : places.has(path.join(from, place)) || places.has(place);
}

function unresolvedIn(file: string): string[] {
  const text = read(file);
  const here = wordsOf(text);
  return [...text.matchAll(COMMENT)].flatMap(({ 0: comment, index }) => {
    const named = [...(comment.match(FILE) ?? []), ...(comment.match(FOLDER) ?? [])];
    const links = [...comment.matchAll(/\{@link ([\w.$]+)/g)].map(([, name = '']) => name);
    const calls = [...comment.matchAll(/(?<![\w.])([a-z]\w*)\(\)/g)].map(([, name = '']) => name);
    const wrong = [
      ...named.filter((name) => !PATTERNS.has(name) && !isPlace(name, path.dirname(file))),
      ...links.filter((name) => name.split('.').some((part, i) => !(i === 0 ? here : words).has(part))),
      ...calls.filter((name) => !words.has(name)),
    ];
    const line = text.slice(0, index).split('\n').length;
    return wrong.map((name) => `${file}:${line}: ${name}`);
  });
}

test('every file, folder and function that a comment names is there', () => {
  expect(code.flatMap(unresolvedIn)).toEqual([]);
});
