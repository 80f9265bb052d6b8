// Owns: the console's rules that its files can be read for: its operations are public, its first page is light, its imports.
// Does not own: what it does (test/console).
// Implements: decisions "Console": at most 270 KiB of script and style before the first page is usable; nothing but openapi.json.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { buildConsole } from '../../console/build.ts';
import { declaredEntries } from '../../console/generated/kinds.ts';
import * as routes from '../../console/generated/routes.ts';
import { writtenOut } from '../../console/kinds/written-out.ts';

const root = path.resolve(import.meta.dirname, '../..');
const BUDGET_KIB = 270;
const HARD_CAP = 400;

async function sources(): Promise<Map<string, string>> {
  const found = await readdir(path.join(root, 'console'), { recursive: true, withFileTypes: true });
  const files = found
    .filter((file) => file.isFile() && /\.(tsx?|css)$/.test(file.name))
    .map((file) => path.relative(root, path.join(file.parentPath, file.name)));
  return new Map(
    await Promise.all(files.map(async (file) => [file, await readFile(path.join(root, file), 'utf8')] as const)),
  );
}

test('every operation that the console calls is in the public API', async () => {
  const { paths }: { paths: Record<string, Record<string, unknown>> } = JSON.parse(
    await readFile(path.join(root, 'server/openapi.json'), 'utf8'),
  );
  const isPublic = ({ method, path: at }: { method: string; path: string }): boolean => {
    const written = at.replaceAll(/[:*](\w+)/g, '{$1}');
    return paths[written]?.[method.toLowerCase()] !== undefined;
  };
  const named = new Map<string, { method: string; path: string }>(Object.entries(routes));
  const used = new Set<string>();
  for (const [file, text] of await sources()) {
    if (file.startsWith('console/generated/')) continue;
    for (const [, names = ''] of text.matchAll(/import (?:type )?\{([^}]+)\} from '[./]*generated\/routes\.ts'/g))
      for (const name of names.split(',')) used.add(name.trim().split(' as ')[0] ?? '');
    if (/import \* as api from '[./]*generated\/routes\.ts'/.test(text))
      for (const [, name = ''] of text.matchAll(/\bapi\.(\w+)/g)) used.add(name);
    // nothing is asked for in another way
    if (file !== 'console/api/client.ts')
      expect(text, file).not.toMatch(/\bfetch\(|XMLHttpRequest|sendBeacon|WebSocket|EventSource/);
  }
  used.delete('');
  const operations = [...used].map((name) => ({ name, route: named.get(name) }));
  expect(operations.filter(({ route }) => route === undefined || !isPublic(route))).toEqual([]);
  expect(operations.length).toBeGreaterThan(5);
  for (const entry of [...declaredEntries, ...writtenOut]) {
    const kind = await entry.load();
    const missing = Object.values(kind.routes).filter((route) => route !== undefined && !isPublic(route));
    expect(missing, entry.section).toEqual([]);
  }
});

test(`the first page loads at most ${BUDGET_KIB} KiB of script and style`, async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-console-'));
  try {
    const { first, files } = await buildConsole(folder);
    const sizes = new Map(files.map(({ name, brotli }) => [name, brotli]));
    const kib = first.reduce((sum, name) => sum + (sizes.get(name) ?? Number.NaN), 0) / 1024;
    expect(kib).toBeGreaterThan(50);
    expect(kib).toBeLessThanOrEqual(BUDGET_KIB);
    const texts = await Promise.all(first.map((name) => readFile(path.join(folder, name), 'utf8')));
    // zod and CodeMirror come with the pages that need them
    expect(texts.filter((text) => text.includes('ZodError') || text.includes('cm-content'))).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('of the server the console imports the contract alone, and the build the colours of pages', async () => {
  for (const [file, text] of await sources()) {
    const foreign = [...text.matchAll(/from '((?:\.\.\/)+(?:server|operator|cli|quickstart|test)\/[^']+)'/g)].map(
      ([, to = '']) => to,
    );
    const allowed = (to: string) =>
      /\/server\/contract\//.test(to) || (file === 'console/build.ts' && to.endsWith('/page-tokens.ts'));
    expect(
      foreign.filter((to) => !allowed(to)),
      file,
    ).toEqual([]);
    expect(text, file).not.toMatch(
      /dangerouslySetInnerHTML|\.innerHTML\s*=(?!\s*'')|insertAdjacentHTML|document\.write\(/,
    );
    if (!file.startsWith('console/generated/'))
      expect(text.split('\n').length, file).toBeLessThanOrEqual(file.endsWith('.css') ? 700 : HARD_CAP);
  }
});
