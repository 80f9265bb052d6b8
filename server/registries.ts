// Prints the lists of kinds that are declared as a whole: by the contract files that declare one, and by the convention that the
// resource of `scimTargets` is features/<group>/scim-targets/resource.ts's `scimTargetsResource`. Bundles can't look for files, so the
// lists are written by `npm run generate`, and a test compares.
import { glob, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { separateWords } from './contract/apart.ts';

const DECLARES = /^export const (\w+) = kind\(\{$([\s\S]*?)^\}\);$/m;
const HEAD = '// Written by `npm run generate` from the contract files that declare a kind.\n';

const byPath = (a: string, b: string): number => {
  const [one = '', other = ''] = [a, b].map((line) => line.split(' from ')[1]);
  return one < other ? -1 : 1;
};

/** Path from the root → content. */
export async function registries(root: string): Promise<Map<string, string>> {
  const folder = path.join(root, 'server/contract');
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts')).sort();
  const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
  const found = files.flatMap((file, i) => {
    const [, section, declaration = ''] = DECLARES.exec(texts[i] ?? '') ?? [];
    const names = ['kind', 'area'].flatMap(
      (field) => new RegExp(`^  ${field}: '.*'(?=,$)`, 'm').exec(declaration)?.[0].trim() ?? [],
    );
    return section ? [{ file, section, names: names.join(', ') }] : [];
  });
  type Found = (typeof found)[number];
  const each = (line: (of: Found) => string) => found.map((of) => `${line(of)}\n`).join('');
  const server = path.join(root, 'server');
  const resources = await Array.fromAsync(glob('features/*/*/resource.ts', { cwd: server }));
  const resourceOf = (section: string) => {
    const file = resources.find((one) => one.endsWith(`/${separateWords(section, '-')}/resource.ts`));
    return `./${file ?? `features/<group>/${separateWords(section, '-')}/resource.ts`}`;
  };
  return new Map([
    [
      'server/contract/declared-kinds.ts',
      `${HEAD}${each(({ file, section }) => `import { ${section} } from './${file}';`)}
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
      'server/declared-resources.ts',
      `${HEAD}${found
        .map(({ section }) => `import { ${section}Resource } from '${resourceOf(section)}';\n`)
        .sort(byPath)
        .join('')}import type { ResourceDeps } from './resource/declared.ts';

export const declaredResources = (deps: ResourceDeps) => ({
${each(({ section }) => `  ${section}: ${section}Resource(deps),`)}});
`,
    ],
  ]);
}
