// Generates the lists of kinds that are declared as a whole, from the contract files that declare one, and from the
// convention that a file of features/<group>/<feature>/ exports the resource of `scimTargets` as `scimTargetsResource`. Bundles
// can't search files, so `npm run generate` writes the lists, and a test compares them.
import { glob, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { separateWords } from './contract/apart.ts';

const DECLARES = /^export const (\w+) = kind\(\{$([\s\S]*?)^\}\);$/gm;
/** As `server/compose/` imports it. */
const DECLARED = '../resource/declared.ts';
const HEAD = '// Written by `npm run generate` from the contract files that declare a kind.\n';

/** One import for each file, in the files' order. */
const imports = (from: './' | '../', all: readonly { name: string; file: string }[]): string =>
  [...Map.groupBy(all, ({ file }) => file)]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([file, of]) => {
      const names = of.map(({ name }) => name).sort();
      return `import { ${names.join(', ')} } from '${from}${file}';\n`;
    })
    .join('');

/** Path from the root → content. */
export async function registries(root: string): Promise<Map<string, string>> {
  const server = path.join(root, 'server');
  const read = (file: string) => readFile(path.join(server, file), 'utf8');
  const files = (await readdir(path.join(server, 'contract'))).filter((file) => file.endsWith('.ts')).sort();
  const texts = await Promise.all(files.map((file) => read(`contract/${file}`)));
  const found = files.flatMap((file, i) =>
    [...(texts[i] ?? '').matchAll(DECLARES)].map(([, section = '', declaration = '']) => {
      const names = ['kind', 'area'].flatMap(
        (field) => new RegExp(`^  ${field}: '.*'(?=,$)`, 'm').exec(declaration)?.[0].trim() ?? [],
      );
      return { file, section, names: names.join(', ') };
    }),
  );
  type Found = (typeof found)[number];
  const each = (line: (of: Found) => string) => found.map((of) => `${line(of)}\n`).join('');
  const resources = (await Array.fromAsync(glob('features/*/*/*.ts', { cwd: server }))).sort();
  const declaring = new Map(await Promise.all(resources.map(async (file) => [file, await read(file)] as const)));
  const resourceOf = (name: string, section: string): string =>
    resources.find((file) => declaring.get(file)?.includes(`export const ${name} =`)) ??
    `features/<group>/${separateWords(section, '-')}/resource.ts`;
  const resourceImports = found.map(({ section }) => {
    const name = `${section}Resource`;
    return { name, file: resourceOf(name, section) };
  });
  return new Map([
    [
      'server/contract/declared-kinds.ts',
      `${HEAD}${imports(
        './',
        found.map(({ section, file }) => ({ name: section, file })),
      )}
export const declaredKinds = {
${each(({ section }) => `  ${section},`)}} as const;
`,
    ],
    [
      'server/contract/declared-names.ts',
      `${HEAD}// Apart from their fields, which are made of permissions and event types, which are made of these names.
export const declaredNames = {
${each(({ section, names }) => `  ${section}: { ${names} },`)}} as const;
`,
    ],
    [
      'server/compose/declared-resources.ts',
      `${HEAD}${imports('../', resourceImports)}import type { ResourceDeps } from '${DECLARED}';

export const declaredResources = (deps: ResourceDeps) => ({
${each(({ section }) => `  ${section}: ${section}Resource(deps),`)}});
`,
    ],
  ]);
}
