// Kinds that are declared as a whole (server/contract/kind.ts): their columns follow from what is answered, the first few fields that
// say something in a word at once, the others by `-o wide`.
import { z } from 'zod';
import { declaredKinds } from '../server/contract/declared-kinds.ts';
import { apart, type KindOf } from '../server/contract/kind.ts';
import { words } from '../server/contract/section.ts';
import { list, text, yes } from './cells.ts';
import { type Column, type Kind, kind } from './kinds.ts';

const SHOWN = 4;
type Row = Record<string, unknown>;

const Words = z.array(z.string());
/** Undefined: it is no word, and `-o yaml` has it. */
const cell = (value: unknown): string | undefined => {
  if (typeof value === 'boolean') return yes(value);
  if (typeof value === 'string' || value === null) return text(value);
  if (typeof value === 'number') return String(value);
  const { data } = Words.safeParse(value);
  return data && list(data);
};
/** Whether a column has something to show of such values. */
function isWord(schema: unknown): boolean {
  if (schema instanceof z.ZodNullable) return isWord(schema.unwrap());
  if (schema instanceof z.ZodArray) return isWord(schema.element);
  return [z.ZodString, z.ZodURL, z.ZodEnum, z.ZodBoolean, z.ZodNumber].some((of) => schema instanceof of);
}

const columnsOf = ({ kind: of, wire, entry: { key } }: KindOf): Column<Row>[] => {
  const fields = Object.keys(wire.shape).filter(
    (field) => field !== key && field !== 'id' && isWord(wire.shape[field]),
  );
  return [
    { head: words(of).toUpperCase(), cell: (row) => String(row[key]) },
    ...fields.map((field, i) => ({
      head: words(field).toUpperCase(),
      cell: (row: Row) => cell(row[field]) ?? '',
      ...(i >= SHOWN && { wide: true as const }),
    })),
    { head: 'ID', cell: (row) => String(row.id), wide: true },
  ];
};

export const plainKinds: readonly Kind[] = Object.values<KindOf>(declaredKinds).map((declared) =>
  kind<Row>({
    plural: apart(declared.section, '-'),
    singular: apart(declared.kind, '-'),
    help: declared.description.charAt(0).toLowerCase() + declared.description.slice(1),
    inRealm: true,
    ...(declared.searches && { searches: true }),
    routes: declared.routes,
    at: (row) => ({ [declared.at]: String(row[declared.at]) }),
    nameOf: (row) => String(row[declared.entry.key]),
    is: (row, word) => row[declared.entry.key] === word || row.id === word,
    columns: columnsOf(declared),
  }),
);
