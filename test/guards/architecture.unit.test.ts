import { readdirSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const HARD_CAP = 400;
const TEST_CAP = 500;
const MEDIAN = 120;

const filesUnder = (folder: string): string[] =>
  readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .sort();
const exists = (folder: string) => readdirSync(root).includes(folder);
const code = ['server', 'operator', 'quickstart', 'cli'].filter(exists).flatMap(filesUnder);
const tests = filesUnder('test');
const source = new Map([...code, ...tests].map((file) => [file, readFileSync(path.join(root, file), 'utf8')]));
const linesOf = (file: string) => source.get(file)?.split('\n').length ?? 0;

interface Import {
  file: string;
  /** From the root, without `./`. */
  to: string;
  typeOnly: boolean;
}

/** Relative imports and re-exports, static and dynamic. */
function importsOf(file: string): Import[] {
  const text = source.get(file) ?? '';
  const found = [
    ...text.matchAll(/^(?:import|export)\s+(type\s+)?([^;'"]*?)\s*(?:from\s*)?['"](\.[^'"]+)['"]/gms),
    ...text.matchAll(/(?<type>)(?<names>)\bimport\(\s*['"](\.[^'"]+)['"]/g),
  ];
  return found.map(([, type, names = '', to = '']) => ({
    file,
    to: path.relative(root, path.resolve(root, path.dirname(file), to)),
    typeOnly: type !== undefined && type !== '' ? true : everyNameIsType(names),
  }));
}
/** `import { type A, type B } from …` brings no value either. */
function everyNameIsType(names: string): boolean {
  const inner = /^\{(.*)\}$/s.exec(names.trim())?.[1];
  const parts = inner?.split(',').map((part) => part.trim());
  return parts?.filter((part) => part !== '').every((part) => part.startsWith('type ')) ?? false;
}

const BELOW = ['contract', 'schedule', 'telemetry', 'db', 'events', 'jobs', 'crypto', 'http', 'xml'];
/** The layer of a file: what may import it, and what it may import. */
function layerOf(file: string): string {
  const [top = '', second = '', third = '', fourth = ''] = file.split('/');
  if (top !== 'server') return top;
  if (second === 'features') return `feature ${third}/${fourth}`;
  return [...BELOW, 'domain', 'resource'].includes(second) ? second : 'app';
}

/** The groups of features: each imports from those before it. */
const GROUPS = ['configuration', 'people', 'authentication', 'protocol', 'operations'];
const rankOf = (layer: string) => GROUPS.indexOf(layer.replace(/^feature |\/.*$/g, ''));

/** The operator's pure parts: what a resource is, the document that it stands for, its definition. */
const SHARED_BY_OPERATOR = /^operator\/(?:kinds\/[a-z-]+|resource|crd)\.ts$/;
function allowed({ file, to }: Import): boolean {
  const [from, target] = [layerOf(file), layerOf(to)];
  if (from === target) return true;
  if (from === 'contract') return false;
  if (from === 'app') return !['operator', 'quickstart', 'test'].includes(target) || file === 'server/generate.ts';
  if (from === 'schedule') return false;
  if (from === 'telemetry') return target === 'contract';
  if (BELOW.includes(from)) return BELOW.includes(target);
  if (from === 'domain') return BELOW.includes(target);
  if (from === 'resource') return [...BELOW, 'domain'].includes(target);
  if (from.startsWith('feature ')) {
    if ([...BELOW, 'domain', 'resource'].includes(target)) return true;
    return target.startsWith('feature ') && rankOf(target) <= rankOf(from);
  }
  if (from === 'operator') return ['contract', 'telemetry'].includes(target);
  // package.json: which version it is
  if (from === 'cli') return target === 'contract' || SHARED_BY_OPERATOR.test(to) || to === 'package.json';
  if (from === 'quickstart') return target !== 'test';
  return false;
}

test('imports go one way: contract, schedule ← db, events, jobs, crypto, http, xml ← domain ← resource ← features (configuration ← people ← authentication ← protocol ← operations) ← app; contract ← operator ← cli (pure parts)', () => {
  const wrong = code
    .flatMap(importsOf)
    .filter((found) => !allowed(found))
    .map(({ file, to, typeOnly }) => `${file} → ${to}${typeOnly ? ' (type)' : ''}`);
  expect(wrong).toEqual([]);
});

test('no feature needs another one that needs it, types included', () => {
  const needs = new Map<string, Set<string>>();
  for (const { file, to } of code.flatMap(importsOf)) {
    const [from, target] = [layerOf(file), layerOf(to)];
    if (from === target || !from.startsWith('feature ') || !target.startsWith('feature ')) continue;
    needs.set(from, (needs.get(from) ?? new Set()).add(target));
  }
  // what needs nothing that is left is taken away; what stays is in a cycle, or needs one
  let left = [...needs.keys()];
  for (let before = -1; before !== left.length; ) {
    before = left.length;
    const there = new Set(left);
    left = left.filter((feature) => [...(needs.get(feature) ?? [])].some((one) => there.has(one)));
  }
  expect(left.map((feature) => `${feature} → ${[...(needs.get(feature) ?? [])].join(', ')}`)).toEqual([]);
});

test('the wire contract needs zod and nothing else', () => {
  const packages = code
    .filter((file) => layerOf(file) === 'contract')
    .flatMap((file) => [...(source.get(file) ?? '').matchAll(/from '([^.'][^']*)'/g)].map((m) => `${file}: ${m[1]}`))
    .filter((line) => !line.endsWith(': zod'));
  expect(packages).toEqual([]);
});

test('only main.ts files read the environment', () => {
  // what is said in comments doesn't count
  const read = code.filter((file) => /^(?!\s*(?:\/\/|\*|\/\*)).*\bprocess\.env\b/m.test(source.get(file) ?? ''));
  expect(read.filter((file) => path.basename(file) !== 'main.ts')).toEqual([]);
});

test('no file is longer than a reader can hold', () => {
  const long = [
    ...code.filter((file) => linesOf(file) > HARD_CAP),
    ...tests.filter((file) => linesOf(file) > TEST_CAP),
  ].map((file) => `${file}: ${linesOf(file)} lines`);
  expect(long).toEqual([]);
  const sorted = code.map(linesOf).sort((a, b) => a - b);
  expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(MEDIAN);
});

test('no file is a drawer: no utils, helpers, types, commons or barrels', () => {
  const drawer = /^(utils?|helpers?|types?|index|common|misc)\.ts$/;
  expect([...code, ...tests].filter((file) => drawer.test(path.basename(file)))).toEqual([]);
});

test('each feature folder opens with what it owns, what it does not, and what it implements', () => {
  const heads = new Map<string, boolean>();
  for (const file of code) {
    const layer = layerOf(file);
    if (!layer.startsWith('feature ')) continue;
    const [first = '', second = '', third = ''] = (source.get(file) ?? '').split('\n');
    const opens = /^\/\/ Owns: /.test(first) && /^\/\/ Does not own: /.test(second) && /^\/\/ Implements: /.test(third);
    heads.set(layer, (heads.get(layer) ?? false) || opens);
  }
  expect([...heads].filter(([, opens]) => !opens).map(([layer]) => layer)).toEqual([]);
});

test('no check of the compiler is switched off', () => {
  const off = /@ts-(?:ignore|nocheck|expect-error)/;
  expect(code.filter((file) => off.test(source.get(file) ?? ''))).toEqual([]);
});

test('every value that the server or the operator exports is imported somewhere', () => {
  const unused = code
    .filter((file) => layerOf(file) !== 'contract')
    .flatMap((file) => {
      const names = [...(source.get(file) ?? '').matchAll(/^export (?:async )?(?:const|function|class) (\w+)/gm)];
      const others = [...source].filter(([other]) => other !== file).map(([, text]) => text);
      return names
        .map(([, name = '']) => name)
        .filter((name) => !others.some((text) => new RegExp(`\\b${name}\\b`).test(text)))
        .map((name) => `${file}: ${name}`);
    });
  expect(unused).toEqual([]);
});

/** The engine of sign-ins stays as it is. */
const LEFT_ALONE = new Set(['engine', 'machine'].map((name) => `server/features/authentication/sign-in/${name}.ts`));

test('no object is packed into fewer lines by spreading a literal: a long file is split by meaning', () => {
  const packed = code
    .filter((file) => !LEFT_ALONE.has(file))
    .filter((file) => /\.\.\.\{\s*\w+\s*[,:}]/.test(source.get(file) ?? ''));
  expect(packed).toEqual([]);
});

/** Words that say nothing where a search finds them. */
const VAGUE = ['told', 'given', 'taken', 'kept', 'known', 'over', 'shown', 'next', 'done'];

test('an exported name says what the thing is or does', () => {
  const exported = new RegExp(`^export (?:async )?(?:const|function) (?:${VAGUE.join('|')})\\b`, 'm');
  expect(code.filter((file) => !LEFT_ALONE.has(file) && exported.test(source.get(file) ?? ''))).toEqual([]);
});

test('a CommonJS package that is imported late is taken by its default: by name it has nothing in the bundle', () => {
  const late = code.flatMap((file) =>
    [...(source.get(file) ?? '').matchAll(/(\(await )?\bimport\('([^.'][^':]*)'\)(\)\.default\b)?/g)].map(
      ([, , name = '', byDefault]) => ({ file, name, byDefault: byDefault !== undefined }),
    ),
  );
  expect(late.map(({ name }) => name)).toContain('undici');
  const byName = late.filter(({ file, name, byDefault }) => !byDefault && isCommonJs(file, name));
  expect(byName).toEqual([]);
});

/** As esbuild and Node find it: by `exports`, else by `main`. */
function isCommonJs(file: string, name: string): boolean {
  const found = import.meta.resolve(name, pathToFileURL(path.join(root, file)));
  if (!found.startsWith('file:')) return false;
  if (/\.[cm]js$/.test(found)) return found.endsWith('.cjs');
  const manifest = findPackageJSON(found);
  const { type }: { type?: string } = JSON.parse(readFileSync(manifest ?? '', 'utf8'));
  return type !== 'module';
}
