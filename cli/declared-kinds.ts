// Kinds that are declared as a whole (server/contract/kind.ts). Their columns follow from the response's fields: the
// first few with short values, the others by `-o wide`.
import { z } from 'zod';
import { separateWords } from '../server/contract/apart.ts';
import { declaredKinds } from '../server/contract/declared-kinds.ts';
import { isListOfTexts, isText, type KindOf, presentSchema, writesOf } from '../server/contract/kind.ts';
import { isInstant } from '../server/contract/names.ts';
import { ClientRoles, Composite } from '../server/contract/roles.ts';
import { fieldsOfKey, wordsOfField } from '../server/contract/section.ts';
import { list, namesIn, text, time, yes } from './cells.ts';
import { type Column, type Kind, kind, type Scope } from './kinds.ts';

const SHOWN = 4;
type Row = Record<string, unknown>;
const Words = z.array(z.string());
const Domains = z.array(z.object({ name: z.string(), verified: z.boolean() }));
const Addresses = z.array(z.object({ url: z.string() }));

/** Formats a value of the schema for a table's column. Undefined: no column can show it; `-o yaml` prints it. */
function cellOf(schema: z.ZodType): ((value: unknown) => string) | undefined {
  const of = presentSchema(schema);
  if (of instanceof z.ZodBoolean) return (value) => yes(value === true);
  if (isText(of)) return (value) => text(typeof value === 'string' ? value : null);
  if (isListOfTexts(of)) return (value) => list(Words.parse(value ?? []));
  if (isInstant(of)) return (value) => time(typeof value === 'number' ? value : null);
  return of instanceof z.ZodNumber ? (value) => String(value ?? '') : undefined;
}

const contains = ({ composite }: Row): string => {
  const { roles = [], clientRoles = {} } = Composite.parse(composite);
  return list([...roles, ...namesIn(clientRoles)]);
};

const ofClaims = {
  claim: ({ claim, name }: Row) => String(claim ?? name),
  attribute: ({ attribute, value }: Row) => String(attribute ?? value ?? ''),
};

const limit = (names: unknown): string => (names === null ? 'all' : list(Words.parse(names)));

/** Columns that show more than their field, by section and field. */
const own: Readonly<Record<string, Readonly<Record<string, (row: Row) => string>>>> = {
  adminRoles: { groups: ({ groups }) => limit(groups), clients: ({ clients }) => limit(clients) },
  applications: {
    roles: ({ roles }) => list(Words.parse(roles)) || 'everybody',
    clients: ({ clients, samlClients }) => list([...Words.parse(clients), ...Words.parse(samlClients)]),
  },
  claims: ofClaims,
  clientProtocolMappers: ofClaims,
  clientRoles: { composite: contains },
  clientScopes: { claims: ({ claims }) => String(Words.parse(claims).length) },
  groups: {
    clientRoles: ({ clientRoles }) => list(namesIn(ClientRoles.parse(clientRoles))),
    attributes: ({ attributes }) => list(Object.keys(Object(attributes))),
  },
  organizations: {
    domains: ({ domains }) =>
      list(Domains.parse(domains).map(({ name, verified }) => (verified ? name : `${name} (not verified)`))),
  },
  roles: { composite: contains },
  samlClients: {
    assertionConsumerServices: (row) => list(Addresses.parse(row.assertionConsumerServices).map(({ url }) => url)),
  },
};

const keyIn = ({ key }: Pick<KindOf['entry'], 'key'>, row: Row): string =>
  fieldsOfKey(key)
    .map((field) => String(row[field]))
    .join('/');

function columnsOf({ section, kind: of, wire, entry, cli: { shown, wide, heads = {} } }: KindOf): Column<Row>[] {
  const keys = fieldsOfKey(entry.key);
  const cells = new Map(
    Object.entries<z.ZodType>(wire.shape).flatMap(([field, schema]) => {
      const cell = cellOf(schema);
      const column = own[section]?.[field] ?? (cell && ((row: Row) => cell(row[field])));
      return column && !keys.includes(field) && (field !== 'id' || wide?.includes(field)) && field !== 'realmId'
        ? [[field, column] as const]
        : [];
    }),
  );
  const first = shown ?? [...cells.keys()].slice(0, SHOWN);
  return [
    { head: heads[keys.join('/')] ?? wordsOfField(of).toUpperCase(), cell: (row) => keyIn(entry, row) },
    ...[...new Set([...first, ...(wide ?? cells.keys())])].map((field) => ({
      head: heads[field] ?? wordsOfField(field).toUpperCase(),
      cell: cells.get(field) ?? (() => ''),
      ...(!first.includes(field) && { wide: true as const }),
    })),
    ...(wide ? [] : [{ head: 'ID', cell: (row: Row) => String(row.id), wide: true as const }]),
  ];
}

const bySection: ReadonlyMap<string, Kind> = new Map(
  Object.values<KindOf>(declaredKinds).map((declared) => [
    declared.section,
    kind<Row>({
      plural: declared.cli.plural ?? separateWords(declared.section, '-'),
      singular: declared.cli.singular ?? separateWords(declared.kind, '-'),
      help: declared.cli.help ?? declared.description.charAt(0).toLowerCase() + declared.description.slice(1),
      inRealm: true,
      ...(declared.searches.length > 0 && { searches: true }),
      ...(declared.ofClient && { of: 'client', parent: idIn('clients'), parentIn: 'clientId' }),
      routes: { ...declared.routes, ...writesOf(declared) },
      at: (row) => Object.fromEntries(declared.at.map((field) => [field, String(row[field] ?? row.id)])),
      nameOf: (row) => keyIn(declared.entry, row),
      // a path is found without its first slash, too
      is: (row, word) => [keyIn(declared.entry, row), row.id].some((name) => name === word || name === `/${word}`),
      columns: columnsOf(declared),
    }),
  ]),
);
export const plainKinds: readonly Kind[] = [...bySection.values()];

/** The id of the parent object, found by its name in that section. */
export function idIn(section: keyof typeof declaredKinds) {
  return async (scope: Scope): Promise<string> => {
    const found = await bySection.get(section)?.find(scope, scope.of ?? '');
    return String(Object(found?.value).id);
  };
}
