// How a value looks in a list or on a page, by the kind of value.
import { Badge, Chips } from '../ui/badge.tsx';
import { duration, Time } from '../ui/time.tsx';
import type { Cell, Row } from './entry.ts';
import type { FieldType } from './fields.ts';
import { choiceWords, labelOf } from './words.ts';

/** Fields that name an object in a list, such as a domain of an organization. */
const NAMING = ['name', 'alias', 'clientId', 'key', 'url', 'type'];
const textOf = (one: unknown): string =>
  typeof one === 'string'
    ? one
    : (NAMING.map((field) => Object(one)[field]).find((name) => typeof name === 'string') ?? JSON.stringify(one));
const textsIn = (value: unknown): string[] => (Array.isArray(value) ? value.map(textOf) : []);

const None = () => <span className="none">–</span>;

/** In a table: short. */
export function CellValue({ cell, value }: { cell: Cell; value: unknown }) {
  if (value === null || value === undefined || value === '') return <None />;
  if (cell === 'boolean') return value === true ? <Badge tone="good">yes</Badge> : <Badge>no</Badge>;
  if (cell === 'time') return <Time ms={typeof value === 'number' ? value : null} />;
  if (cell === 'list' || Array.isArray(value)) {
    const items = textsIn(value);
    return items.length === 0 ? <None /> : <Chips items={items.map(choiceWords)} most={3} />;
  }
  if (cell === 'number') return <>{Number(value).toLocaleString('en')}</>;
  if (cell === 'text') return <bdi>{String(value)}</bdi>;
  const names = isComposite(value)
    ? rolesIn(value)
    : Object.entries(value).flatMap(([name, of]) => (isNothing(of) ? [] : [name]));
  return names.length === 0 ? <None /> : <Chips items={names} most={3} />;
}

interface Composite {
  roles: string[];
  clientRoles: Record<string, string[]>;
}
const isComposite = (value: object): value is Composite => 'roles' in value && 'clientRoles' in value;
/** `reader`, and of a client `billing/clerk` */
const rolesIn = ({ roles, clientRoles }: Composite): string[] => [
  ...roles,
  ...Object.entries(clientRoles).flatMap(([client, own]) => own.map((role) => `${client}/${role}`)),
];

/** It is not set, or an object or list without anything that is. */
export const isNothing = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.values(value).every(isNothing));

/** On a page: whole. @param field its name, by which times and lengths of time are known @param is the kind of value that a form asks for */
export function FullValue({
  field,
  cell,
  value,
  is,
}: {
  field: string;
  cell: Cell;
  value: unknown;
  is?: FieldType['is'];
}) {
  if (isNothing(value))
    return <span className="none">{Array.isArray(value) ? 'none' : PAST.test(field) ? 'never' : 'not set'}</span>;
  if (typeof value === 'number' && (cell === 'time' || /[a-z]At$/.test(field))) return <Time ms={value} full />;
  if (typeof value === 'number' && (is === 'duration' || field.endsWith('Seconds'))) return <>{duration(value)}</>;
  if (typeof value === 'boolean') return value ? <Badge tone="good">yes</Badge> : <Badge>no</Badge>;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string'))
    return <Chips items={value.map(choiceWords)} />;
  if (typeof value === 'object' && value !== null) {
    const rows = [value].flat();
    return rows.every(isFlat) ? <Rows rows={rows} isMap={is === 'map'} /> : <Tree of={value} />;
  }
  return <span dir="auto">{String(value)}</span>;
}
/** Times of what may not have happened yet. */
const PAST = /^(last|reviewed|used|synced|verified).*At$/;

const isSimple = (value: unknown): boolean =>
  value === null ||
  typeof value !== 'object' ||
  (Array.isArray(value) && value.every((one) => typeof one === 'string'));
const isFlat = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isSimple);

/** A field's name as a label; a name that the realm made up as it is. */
const nameOf = (name: string, isMap: boolean): string =>
  isMap || !/^[a-z][a-zA-Z0-9]*$/.test(name) ? name : labelOf(name);

function Words({ name, value }: { name: string; value: unknown }) {
  if (typeof value === 'number' && /[a-z]At$/.test(name)) return <Time ms={value} full />;
  if (typeof value === 'number' && name.endsWith('Seconds')) return <>{duration(value)}</>;
  if (typeof value === 'boolean') return <>{value ? 'yes' : 'no'}</>;
  return <bdi>{Array.isArray(value) ? value.join(', ') : String(value)}</bdi>;
}

/** Objects without objects in them: a line for each, of its fields that are set. */
function Rows({ rows, isMap }: { rows: readonly Row[]; isMap: boolean }) {
  return (
    <ul className="value-rows">
      {rows.map((row) => (
        <li key={JSON.stringify(row)}>
          {Object.entries(row).map(
            ([name, value]) =>
              !isNothing(value) && (
                <span key={name}>
                  <span className="soft">{nameOf(name, isMap)}:</span> <Words name={name} value={value} />
                </span>
              ),
          )}
        </li>
      ))}
    </ul>
  );
}

/** Objects in objects: a line for each field that is set, those of an inner object indented below its name. */
function Tree({ of }: { of: object }) {
  const isList = Array.isArray(of);
  return (
    <ul className="value-tree">
      {Object.entries(of).map(
        ([name, value]) =>
          !isNothing(value) && (
            <li key={name}>
              {!isList && <span className="soft">{nameOf(name, false)}: </span>}
              {isSimple(value) ? <Words name={name} value={value} /> : <Tree of={Object(value)} />}
            </li>
          ),
      )}
    </ul>
  );
}
