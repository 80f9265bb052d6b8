// Owns: the resource of a kind that is declared as a whole (contract/kind.ts): its columns, references and sets follow from its
// fields; the feature passes its rules.
// Does not own: the resource's parts (resource.ts), the list of kinds (contract/declared-kinds.ts).
// Implements: design "A plain resource: one declaration".
import { z } from 'zod';
import type { KeyAlgorithm } from '../contract/algorithms.ts';
import { separateWords } from '../contract/apart.ts';
import type { declaredKinds } from '../contract/declared-kinds.ts';
import { isListOfTexts, isText, type KindOf, presentSchema } from '../contract/kind.ts';
import { isInstant } from '../contract/names.ts';
import { fieldsOfKey } from '../contract/section.ts';
import type { Passwords } from '../crypto/passwords.ts';
import type { Seal } from '../crypto/seal.ts';
import type { Tx } from '../db/transact.ts';
import { sealed } from './at-rest.ts';
import { asSet, splitClientRoleKey, strings } from './items.ts';
import type { Fields } from './part.ts';
import { type Declaration, type Resource, resource } from './resource.ts';
import type { Column, ColumnType, TableOptions } from './table.ts';

/** The dependencies of resources. */
export interface ResourceDeps {
  seal: Seal;
  passwords: Pick<Passwords, 'hash' | 'verify'>;
  baseUrl: string;
  /** Makes keys of algorithms that the realm has not used yet. */
  keys: { prepare(tx: Tx, realm: string, algorithms: Iterable<KeyAlgorithm>): Promise<void> };
  now: () => Date;
}

type DeclaredKind = (typeof declaredKinds)[keyof typeof declaredKinds];
interface Left extends Omit<Declaration, 'section' | 'wire' | 'routes' | 'table' | 'fresh' | 'search' | 'required'> {
  /** Default: the same for every new object, from the kind's declaration. */
  fresh?: Declaration['fresh'];
  table?: Omit<TableOptions, 'name' | 'key' | 'columns' | 'createdAt' | 'under'> & {
    /** Columns that store a field in another form than its schema's. */
    columns?: TableOptions['columns'];
  };
}

/** The name of the kind in the contexts of encrypted values, for example `scim-target`. */
export const sealedAs = (kind: string): string => separateWords(kind, '-');

const instant: Column = {
  type: 'timestamptz',
  toRow: (at) => (typeof at === 'number' ? new Date(at).toISOString() : null),
  fromRow: (at) => (at instanceof Date ? at.getTime() : null),
};

/** The column of a field: texts and lists of texts unchanged, every structured value as JSON. */
function columnOf(schema: z.ZodType): ColumnType | Column {
  const of = presentSchema(schema);
  if (isText(of)) return 'text';
  if (isListOfTexts(of)) return 'text[]';
  if (of instanceof z.ZodBoolean) return 'boolean';
  if (isInstant(of)) return instant;
  return of instanceof z.ZodNumber ? 'int' : 'jsonb';
}

/** A resource out of a kind's declaration: routes, table, section of the realm document. */
export function declaredResource(
  kind: DeclaredKind,
  { table = {}, canonical = (fields) => fields, references = () => [], ...left }: Left,
  { seal, now }: Pick<ResourceDeps, 'seal' | 'now'>,
): Resource {
  const of: KindOf = kind;
  const secrets = of.entry.secrets.map((field) => [field, sealed(seal, sealedAs(of.kind), separateWords(field, '_'))]);
  const inTable = Object.entries(of.fields).filter(
    ([field]) => !fieldsOfKey(of.entry.key).includes(field) && !Object.hasOwn(table.elsewhere ?? {}, field),
  );
  const byId = of.at.find((field) => !Object.hasOwn(of.fields, field));
  const sorted = (fields: Fields): Fields => {
    const there = of.sets.filter((field) => Array.isArray(fields[field]));
    return { ...fields, ...Object.fromEntries(there.map((field) => [field, asSet(strings(fields[field]))])) };
  };
  return resource(
    {
      fresh: () => structuredClone(of.fresh),
      ...left,
      section: kind.section,
      wire: of.wire,
      routes: of.routes,
      ...(byId && { idIn: byId }),
      required: of.needed,
      ...(of.searches.length > 0 && { search: of.searches }),
      table: {
        ...table,
        name: of.table,
        ...(of.ofClient && { under: { table: 'client', key: 'client_id', column: 'client' } }),
        columns: {
          ...Object.fromEntries(inTable.map(([field, schema]) => [field, columnOf(schema)])),
          ...table.columns,
        },
        secrets: { ...Object.fromEntries(secrets), ...table.secrets },
        createdAt: 'createdAt' in of.wire.shape,
      },
      canonical: (fields) => canonical(sorted(fields)),
      references: (item) => [
        ...(of.ofClient ? [{ kind: 'client', key: splitClientRoleKey(item.key).clientId, path: '' }] : []),
        ...Object.entries(of.names).flatMap(([path, named]) =>
          [item.fields[path]].flat().flatMap((key) => (typeof key === 'string' ? [{ kind: named, key, path }] : [])),
        ),
        ...references(item),
      ],
    },
    { now },
  );
}
