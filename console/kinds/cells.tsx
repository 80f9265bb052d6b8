// How a value looks in a list or on a page, by the kind of value.
import { Badge, Chips } from '../ui/badge.tsx';
import { duration, Time } from '../ui/time.tsx';
import type { Cell, Row } from './entry.ts';
import { labelOf } from './words.ts';

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))) : [];

const None = () => <span className="none">–</span>;

/** In a table: short. */
export function CellValue({ cell, value }: { cell: Cell; value: unknown }) {
  if (value === null || value === undefined || value === '') return <None />;
  if (cell === 'boolean') return value === true ? <Badge tone="good">yes</Badge> : <Badge>no</Badge>;
  if (cell === 'time') return <Time ms={typeof value === 'number' ? value : null} />;
  if (cell === 'list' || Array.isArray(value)) {
    const items = textsIn(value);
    return items.length === 0 ? <None /> : <Chips items={items} most={3} />;
  }
  if (cell === 'number') return <>{Number(value).toLocaleString('en')}</>;
  if (cell === 'text') return <bdi>{String(value)}</bdi>;
  const names = Object.entries(value).flatMap(([name, of]) => (Array.isArray(of) && of.length === 0 ? [] : [name]));
  return names.length === 0 ? <None /> : <Chips items={names} most={3} />;
}

/** On a page: whole. @param field its name, by which lengths of time are known */
export function FullValue({ field, cell, value }: { field: string; cell: Cell; value: unknown }) {
  if (value === null || value === undefined || value === '') return <span className="none">not set</span>;
  if (cell === 'time') return <Time ms={Number(value)} full />;
  if (typeof value === 'number' && field.endsWith('Seconds')) return <>{duration(value)}</>;
  if (typeof value === 'boolean') return value ? <Badge tone="good">yes</Badge> : <Badge>no</Badge>;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return <Chips items={value} />;
  if (typeof value === 'object') {
    if (Object.keys(value).length === 0) return <span className="none">none</span>;
    const rows = [value].flat();
    if (rows.every(isFlat)) return <Rows rows={rows} />;
    return (
      <pre>
        <code>{JSON.stringify(value, null, 2)}</code>
      </pre>
    );
  }
  return <span dir="auto">{String(value)}</span>;
}

const isSimple = (value: unknown): boolean =>
  value === null ||
  typeof value !== 'object' ||
  (Array.isArray(value) && value.every((one) => typeof one === 'string'));
const isFlat = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isSimple);

function wordsFor(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.join(', ') : String(value);
}

/** Objects without objects in them: a line for each, of its fields that are set. */
function Rows({ rows }: { rows: readonly Row[] }) {
  return (
    <ul className="value-rows">
      {rows.map((row) => (
        <li key={JSON.stringify(row)}>
          {Object.entries(row).map(
            ([name, value]) =>
              value !== null &&
              value !== '' && (
                <span key={name}>
                  <span className="soft">{labelOf(name)}:</span> <bdi>{wordsFor(value)}</bdi>
                </span>
              ),
          )}
        </li>
      ))}
    </ul>
  );
}
