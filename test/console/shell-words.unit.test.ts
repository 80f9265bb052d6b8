// Owns: names in commands that a reader copies: a terminal runs nothing of them.
// Does not own: the commands themselves (commands.test.ts).
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { jsonText, jsonWord, option, realmctl, word } from '../../console/kinds/shell-words.ts';

const hostile = [
  "it's",
  '$(id)',
  '`id`',
  'a;id',
  'a\nid',
  '=ls',
  '',
  '\\',
  "'$(id)'",
  '~root',
  '* ? [a]',
  '!!',
  "\u001b[201~\u0003\nid\n'",
  'a\u202eb\u2066c',
  '\u007f\u009b31m',
];
/** What bash makes of a word. */
const inShell = (text: string): string =>
  execFileSync('bash', ['-c', `printf %s ${text}`], { encoding: 'utf8', env: { LC_ALL: 'C.UTF-8', HOME: '/root' } });

test.each(hostile)('a shell takes %j as one word, as it is', (text) => {
  expect(inShell(word(text))).toBe(text);
  expect(JSON.parse(inShell(jsonWord({ text })))).toEqual({ text });
  expect(JSON.parse(jsonText({ text }))).toEqual({ text });
});

test('no character that a terminal obeys, or that turns a line around, is in a command', () => {
  const obeyed = /[^\P{Cc}\n]|\p{Bidi_Control}/u;
  for (const text of hostile) {
    expect(word(text)).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u);
    expect(jsonWord({ text })).not.toMatch(obeyed);
    expect(jsonText({ text }).split('\n')).not.toContain('END');
  }
});

test('a name that begins with a dash is no option of realmctl', () => {
  expect(realmctl('get client', ['shop'], '-r acme', '-o yaml')).toBe('realmctl get client shop -r acme -o yaml');
  expect(realmctl('get client', ['--all'], '-r acme')).toBe('realmctl get client -r acme -- --all');
  expect(realmctl('managers move', ['one', '-x'])).toBe('realmctl managers move -- one -x');
  expect([option('--user', 'ana'), option('--user', '--all')]).toEqual(['--user ana', '--user=--all']);
});

test('usual names stay as they are', () => {
  for (const name of ['acme', 'ana@example.com', '/staff/sales', 'https://app.example.com/', 'a.b-c_d+e:f,g%h'])
    expect(word(name)).toBe(name);
});
