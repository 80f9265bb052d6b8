// docs/oauth-security.md names, for each demand, code and a test that are there.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const page = readFileSync(path.join(root, 'docs/oauth-security.md'), 'utf8');

const HEAD = '| Clause | It asks | Met | How | Code | Test |';
const MET = ['always', 'default', 'setting', 'partly', 'no', 'client', 'resource server'];

interface Row {
  section: string;
  clause: string;
  met: string;
  code: string[];
  tests: { file: string; title: string }[];
}

const rows = page.split(/^## /m).flatMap((part): Row[] => {
  const [section = '', ...lines] = part.split('\n');
  const from = lines.indexOf(HEAD);
  if (from < 0) return [];
  const end = lines.findIndex((line, n) => n > from && !line.startsWith('|'));
  return lines.slice(from + 2, end).map((line) => {
    const [clause = '', , met = '', , code = '', tests = ''] = line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
    return {
      section,
      clause,
      met,
      code: [...code.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
      tests: [...tests.matchAll(/`([^`]+)`: `([^`]+)`/g)].map(([, file = '', title = '']) => ({ file, title })),
    };
  });
});
const where = ({ section, clause }: Row) => `${section}: ${clause}`;
const testFile = (file: string) => path.join(root, 'test/server', `${file}.test.ts`);

test('each row says whether the demand is met, and names code and a test', () => {
  expect(rows.length).toBeGreaterThan(130);
  expect(rows.filter(({ met }) => !MET.includes(met)).map(where)).toEqual([]);
  expect(rows.filter(({ code, tests }) => code.length === 0 || tests.length === 0).map(where)).toEqual([]);
});

test('the code that it names is there', () => {
  const missing = rows.flatMap(({ code }) =>
    code.filter((name) => !existsSync(path.join(root, 'server', `${name}.ts`))),
  );
  expect(missing).toEqual([]);
});

// A title may leave out its beginning, such as a module of the Foundation's.
test('the tests that it names are there, by their very titles', () => {
  const named = rows.flatMap(({ tests }) => tests);
  const missing = named.filter(
    ({ file, title }) => !existsSync(testFile(file)) || !readFileSync(testFile(file), 'utf8').includes(`${title}'`),
  );
  expect(missing).toEqual([]);
});

test('it has each section of RFC 9700 that says what to do', () => {
  const clauses = new Set(
    rows.filter(({ section }) => section.startsWith('RFC 9700')).flatMap(({ clause }) => clause.split(', ')),
  );
  const of = (section: number, last: number) => Array.from({ length: last }, (_, n) => `${section}.${n + 1}`);
  const sections = ['2.1', '2.1.1', '2.1.2', '2.2.1', '2.2.2', '2.3', '2.4', '2.5', '2.6', ...of(4, 17)];
  const has = (section: string) => [...clauses].some((one) => one === section || one.startsWith(`${section}.`));
  expect(sections.filter((section) => !has(section))).toEqual([]);
});
