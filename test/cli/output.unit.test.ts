// Owns: what a server's words may do to a terminal, in every form of an answer and beside it.
// Does not own: what commands say (their own tests).
// Implements: docs/cli.md: table, JSON and YAML output; ECMA-48 §5.3 (C1 controls).
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Format, print, writeLine } from '../../cli/output.ts';

// CSI as one character and as ESC with a bracket, the OSC of a title, DEL
const HOSTILE = 'ana\u009b2J\u001b[31m\u001b]0;title\u0007\u009d\u007f\u202eb\u2028';
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const STEERS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/;

function written(work: (io: Parameters<typeof print>[0]) => void, shown = true): string {
  const stream = new PassThrough();
  work({
    stdin: new PassThrough(),
    stdout: stream,
    stderr: stream,
    env: {},
    terminal: true,
    watched: false,
    shown,
    colour: false,
  });
  return String(stream.read() ?? '');
}
const printed = (format: Format, shown?: boolean) =>
  written(
    (io) =>
      print(io, format, {
        value: { [HOSTILE]: HOSTILE },
        names: () => [HOSTILE],
        table: () => ({ head: ['NAME'], rows: [[HOSTILE]] }),
      }),
    shown,
  );

test.each<Format>(['table', 'name', 'json', 'yaml'])(
  'a name cannot steer the terminal that shows it as %s',
  (format) => {
    expect(printed(format)).not.toMatch(STEERS);
  },
);

test('a program that reads JSON or YAML gets the name as it is', () => {
  expect(JSON.parse(printed('json', false))).toEqual({ [HOSTILE]: HOSTILE });
  expect(parse(printed('yaml', false))).toEqual({ [HOSTILE]: HOSTILE });
});

test('nor can it in what is said beside an answer, whose lines stay lines', () => {
  const text = written((io) => writeLine(io, `Secrets to create:\nwebhook ${HOSTILE}`));
  expect(text).not.toMatch(STEERS);
  expect(text.split('\n')).toHaveLength(3);
});

/** The fields of the API that hold a moment: integers with the bounds of `EpochMs`. */
function momentFields(schema: unknown, name = ''): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const here = Reflect.get(schema, 'minimum') === -62135596800000 ? [name] : [];
  const inner = Object.entries(schema).flatMap(([key, value]) =>
    key === 'properties'
      ? Object.entries(Object(value)).flatMap(([field, of]) => momentFields(of, field))
      : momentFields(value, key === 'anyOf' || /^\d+$/.test(key) ? name : ''),
  );
  return [...here, ...inner];
}

test('every moment of an answer is a time in JSON, and a count is a number', () => {
  const file = path.resolve(import.meta.dirname, '../../server/openapi.json');
  const fields = new Set(momentFields(JSON.parse(readFileSync(file, 'utf8'))).filter((name) => name !== ''));
  expect(fields.size).toBeGreaterThan(20);
  const value = Object.fromEntries([...fields].map((field) => [field, 1_795_770_810_359]));
  const text = written((io) => print(io, 'json', { value, table: () => '' }));
  expect(JSON.parse(text)).toEqual(Object.fromEntries([...fields].map((field) => [field, '2026-11-27T09:13:30.359Z'])));
  const counts = written((io) => print(io, 'json', { value: { created: 12 }, table: () => '' }));
  expect(JSON.parse(counts)).toEqual({ created: 12 });
});
