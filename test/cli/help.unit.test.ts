// Owns: that every command explains itself, and docs/cli.md names all of them and every variable.
// Does not own: what the commands do.
// Implements: docs/cli.md: --help with examples; documentation.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../../cli/program.ts';

const root = path.resolve(import.meta.dirname, '../..');
const documented = readFileSync(path.join(root, 'docs/cli.md'), 'utf8');
let said = '';
const sink = new Writable({
  write(chunk, _, done) {
    said += String(chunk);
    done();
  },
});
const program = createProgram({
  io: { stdin: Readable.from([]), stdout: sink, stderr: sink, env: {}, terminal: false, watched: false, colour: false },
  signal: new AbortController().signal,
  version: '0',
  fetch,
});
const nameOf = (command: Command): string =>
  command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
const leaves = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.filter((one) => one.name() !== 'help').flatMap(leaves);
const commands = leaves(program).map((command): [string, Command] => [nameOf(command), command]);

test.each(commands)('%s has a description and examples', (name, command) => {
  said = '';
  command.outputHelp();
  expect(command.description()).not.toBe('');
  // a kind of a family is explained by the family
  const family = command.parent === program ? '' : nameOf(command.parent ?? command);
  const explained = [said];
  if (family !== '') {
    said = '';
    command.parent?.outputHelp();
    explained.push(said);
  }
  expect(explained.join('\n')).toContain(`realmctl ${family === '' || said === '' ? name : family}`);
  expect(explained.join('\n')).toContain('Examples:');
});

test('create says each field by an option with words, and what is secret by a file', () => {
  const create = program.commands.find((one) => one.name() === 'create');
  const options = (create?.commands ?? []).flatMap((one) =>
    one.options.map(({ long, description }) => ({ of: one.name(), long, description })),
  );
  expect(
    options.filter(({ description }) => !/^.*[^:;`\s]+`?.*$/.test(description) || description.startsWith(';')),
  ).toEqual([]);
  expect(options).toContainEqual(expect.objectContaining({ of: 'user', long: '--email' }));
  expect(options.find(({ long }) => long === '--permissions')?.description).toContain('`area:verb`');
  said = '';
  create?.commands.find((one) => one.name() === 'user')?.outputHelp();
  expect(said).toContain('In a file alone (-f, - for stdin), being secret: password');
});

test('docs/cli.md names every command', () => {
  const missing = program.commands
    .map((command) => command.name())
    .filter((name) => !new RegExp(`(?:\`|realmctl )${name}\\b`).test(documented));
  expect(missing).toEqual([]);
});

test('docs/cli.md names every variable that the program reads, and no other', () => {
  const files = readdirSync(path.join(root, 'cli'), { recursive: true, encoding: 'utf8' }).filter((f) =>
    f.endsWith('.ts'),
  );
  const text = files.map((file) => readFileSync(path.join(root, 'cli', file), 'utf8')).join('\n');
  const variables = (of: string) => [...new Set(of.match(/\b(?:REALMCTL_[A-Z_]+|NO_COLOR|XDG_[A-Z_]+)\b/g))].sort();
  expect(variables(documented)).toEqual(variables(text));
});

test('no option takes a password or a secret as its value', () => {
  const options = [program, ...commands.map(([, command]) => command)].flatMap((command) => command.options);
  const risky = options
    .filter(({ long }) => /(?:password|secret|token)(?:$|-stdin$|-file$)/.test(long ?? ''))
    .map(({ flags }) => flags);
  expect(risky.filter((flags) => !/-stdin$| <file>$/.test(flags))).toEqual([]);
});
