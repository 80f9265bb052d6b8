// Writes what the console knows of the contract without loading it: each route's address and permission with its types, and
// each declared kind's names and columns (the folder console/generated). A schema is loaded where a page needs it, so that the
// console's first page is small.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { separateWords } from './contract/apart.ts';
import { declaredKinds } from './contract/declared-kinds.ts';
import { isListOfTexts, isText, type KindOf, presentSchema, writesOf } from './contract/kind.ts';
import { isInstant } from './contract/names.ts';
import type { Route } from './contract/route.ts';
import { fieldsOfKey, wordsOfField } from './contract/section.ts';

/** A module's name in the text that is written. */
const quotedFile = (file: string): string => `'${file}'`;
const HEAD = '// Written by `npm run generate` from the contract.\n';
/** The callers that sign in at the console. */
const CALLERS = ['administrator', 'admin-session'];
/** The columns of a list that shows no others of its own. */
const SHOWN = 4;

interface Found {
  module: string;
  name: string;
  route: Route;
}

const isRoute = (value: unknown): value is Route =>
  typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'principal' in value;

/** The administrators' routes that a contract file exports by a name of their own, and the file of each kind. */
async function readContract(root: string): Promise<{ routes: Found[]; fileOf: ReadonlyMap<unknown, string> }> {
  const folder = path.join(root, 'server/contract');
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts')).sort();
  const routes = new Map<Route, Found>();
  const fileOf = new Map<unknown, string>();
  for (const file of files) {
    const module = file.replace(/\.ts$/, '');
    const exported: Record<string, unknown> = await import(path.join(folder, file));
    for (const [name, value] of Object.entries(exported).sort(([one], [other]) => (one < other ? -1 : 1))) {
      if (isRoute(value) && CALLERS.includes(value.principal) && !routes.has(value))
        routes.set(value, { module, name, route: value });
      if (module !== 'declared-kinds' && !fileOf.has(value)) fileOf.set(value, file);
    }
  }
  return { routes: [...routes.values()], fileOf };
}

/** `client-scopes` → `clientScopes` */
/** No route has this name, as one has the name of its module (`search`). */
const variable = (module: string): string =>
  `${module.replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())}Contract`;
const quoted = (text: string): string =>
  text.includes("'") ? JSON.stringify(text) : `'${text.replaceAll('\\', '\\\\')}'`;
/** Printed as the formatter does, on one line. */
function printed(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(printed).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).filter(([, of]) => of !== undefined);
  if (fields.length === 0) return '{}';
  return `{ ${fields.map(([name, of]) => `${/^\w+$/.test(name) ? name : quoted(name)}: ${printed(of)}`).join(', ')} }`;
}

function routesListed(found: readonly Found[]): string {
  const modules = [...new Set(found.map(({ module }) => module))].sort();
  return `${HEAD}import { light } from ${quotedFile('../api/light.ts')};
${modules.map((module) => `import type * as ${variable(module)} from ${quotedFile(`../../server/contract/${module}.ts`)};\n`).join('')}
${found
  .map(({ module, name, route: { method, path: at, permission, reach, fresh } }) => {
    const more = { ...(reach !== undefined && { reach: true }), ...(fresh && { fresh }) };
    const options = Object.keys(more).length > 0 ? `, ${printed(more)}` : '';
    return `export const ${name} = /* @__PURE__ */ light<typeof ${variable(module)}.${name}>(${[method, at, permission].map(printed).join(', ')}${options});\n`;
  })
  .join('')}`;
}

function cellOf(schema: z.ZodType): string | undefined {
  const of = presentSchema(schema);
  if (of instanceof z.ZodBoolean) return 'boolean';
  if (isText(of)) return 'text';
  if (isListOfTexts(of)) return 'list';
  if (isInstant(of)) return 'time';
  return of instanceof z.ZodNumber ? 'number' : undefined;
}

/** The columns besides the key: those that `realmctl get` shows, then those of `-o wide`. */
function columnsOf({ wire, entry, cli: { shown, wide, heads = {} } }: KindOf) {
  const cells = new Map(
    Object.entries<z.ZodType>(wire.shape).flatMap(([field, schema]) => {
      const cell = cellOf(schema) ?? (shown?.includes(field) || wide?.includes(field) ? 'json' : undefined);
      const hidden = fieldsOfKey(entry.key).includes(field) || field === 'id' || field === 'realmId';
      return cell === undefined || hidden ? [] : [[field, cell] as const];
    }),
  );
  const first = shown ?? [...cells.keys()].slice(0, SHOWN);
  return [...new Set([...first, ...(wide ?? []), ...cells.keys()])].flatMap((field) => {
    const cell = cells.get(field);
    if (cell === undefined) return [];
    const head = heads[field]?.toLowerCase() ?? wordsOfField(field);
    return [{ field, head, cell, ...(first.includes(field) && { shown: true }) }];
  });
}

function kindListed(kind: KindOf, file: string): string {
  const { section, routes } = kind;
  const { path: at } = routes.list;
  const entry = {
    section,
    kind: kind.kind,
    path: kind.ofClient ? at.slice(at.lastIndexOf('/') + 1) : separateWords(section, '-'),
    one: kind.one,
    many: kind.many,
    label: kind.entry.label,
    description: kind.description,
    read: routes.list.permission,
    write: writesOf(kind).create.permission,
    ...(routes.list.reach !== undefined && { reach: true }),
    key: kind.entry.key,
    at: kind.at.length > 1 ? kind.at : kind.at[0],
    ...(kind.ofClient && { ofClient: true }),
    ...(kind.entry.shape === 'map' && { inDocument: 'map' }),
    ...(kind.entry.groups && { inDocument: { by: kind.entry.groups.by, list: kind.entry.groups.list } }),
    ...(kind.searches.length > 0 && { searches: kind.searches }),
    ...('builtIn' in kind.wire.shape && { builtIn: 'builtIn' }),
    resource: kind.entry.resource.kind,
    noun: kind.cli.plural ?? separateWords(section, '-'),
    ...(kind.form && { form: kind.form }),
    columns: columnsOf(kind),
  };
  const lines = Object.entries(entry).map(([name, value]) =>
    name === 'columns' && Array.isArray(value)
      ? `    columns: [\n${value.map((column) => `      ${printed(column)},\n`).join('')}    ],\n`
      : `    ${name}: ${printed(value)},\n`,
  );
  return `  {\n${lines.join('')}    load: async () => (await import(${quotedFile(`../../server/contract/${file}`)})).${section},\n  },\n`;
}

function kindsListed(fileOf: ReadonlyMap<unknown, string>): string {
  const listed = Object.values<KindOf>(declaredKinds).map((kind) => kindListed(kind, fileOf.get(kind) ?? ''));
  return `${HEAD}import type { KindEntry } from ${quotedFile('../kinds/entry.ts')};

export const declaredEntries: readonly KindEntry[] = [
${listed.join('')}];
`;
}

/** Path from the root → content. */
export async function consoleFiles(root: string): Promise<Map<string, string>> {
  const { routes, fileOf } = await readContract(root);
  return new Map([
    ['console/generated/routes.ts', routesListed(routes)],
    ['console/generated/kinds.ts', kindsListed(fileOf)],
  ]);
}
