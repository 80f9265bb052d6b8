// A file of users as rows for the API: a JSON array, a JSON object a line, or CSV with a line of names. Each row has the line
// or number by which its writer finds it again.
import type { z } from 'zod';
import type { UserRow } from '../../../server/contract/user-import.ts';

export type ImportRow = z.input<typeof UserRow>;
export interface FileRow {
  /** `line 12`, `user 3` */
  at: string;
  row: ImportRow;
  /** Why the row is not sent; the others are. */
  fault?: { path: string; message: string };
}
export type FileKind = 'csv' | 'json' | 'ndjson';

export class RowFault extends Error {
  override name = 'RowFault';
}

export function kindOfFile(name: string, start: string): FileKind {
  const text = start.replace(/^\ufeff/, '').trimStart();
  if (text.startsWith('[')) return 'json';
  if (text.startsWith('{')) return 'ndjson';
  if (/\.csv$/i.test(name) || text.includes(',') || text.includes(';')) return 'csv';
  throw new RowFault('The file is neither a JSON array, nor a JSON object a line, nor CSV.');
}

const isRow = (value: unknown): value is ImportRow =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const NAMELESS = { path: 'username', message: 'is needed: the import finds users by it' };

function parsed(text: string, at: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new RowFault(`${at} is no JSON: ${cause instanceof Error ? cause.message : 'unknown'}`, { cause });
  }
}

function asRow(value: unknown, at: string): FileRow {
  if (!isRow(value)) throw new RowFault(`${at} is no user: a user is an object with a username.`);
  const isNamed = typeof value.username === 'string' && value.username.trim() !== '';
  return { at, row: value, ...(!isNamed && { fault: NAMELESS }) };
}

export function rowsOfJson(text: string): FileRow[] {
  const all = parsed(text.replace(/^\ufeff/, ''), 'The file');
  if (!Array.isArray(all)) throw new RowFault('The file is no JSON array.');
  return all.map((value, i) => asRow(value, `user ${i + 1}`));
}

export const rowsOfLines = (text: string): FileRow[] =>
  text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .flatMap((line, i) => (line.trim() === '' ? [] : [asRow(parsed(line, `line ${i + 1}`), `line ${i + 1}`)]));

/** RFC 4180: fields in quotes may have separators, line ends and doubled quotes. */
export function cellsOf(text: string): { line: number; cells: string[] }[] {
  const source = text.replace(/^\ufeff/, '');
  const [first = ''] = source.split('\n', 1);
  const separator = first.split(';').length > first.split(',').length ? ';' : ',';
  const records: { line: number; cells: string[] }[] = [];
  let [cells, cell, isQuoted, line, began]: [string[], string, boolean, number, number] = [[], '', false, 1, 1];
  const endRecord = () => {
    cells.push(cell);
    if (cells.length > 1 || cell !== '') records.push({ line: began, cells });
    [cells, cell] = [[], ''];
  };
  for (let i = 0; i < source.length; i += 1) {
    const char = source.charAt(i);
    if (char === '\n') line += 1;
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (source[i + 1] === '"') {
        cell += '"';
        i += 1;
      } else isQuoted = false;
    } else if (char === '"' && cell === '') isQuoted = true;
    else if (char === separator) {
      cells.push(cell);
      cell = '';
    } else if (char === '\n') {
      endRecord();
      began = line;
    } else if (char !== '\r') cell += char;
  }
  if (isQuoted) throw new RowFault(`line ${began}: a quote is never closed.`);
  if (cell !== '' || cells.length > 0) endRecord();
  return records;
}

const BOOLEANS = new Set(['enabled', 'emailVerified', 'passwordTemporary']);
const LISTS = new Set(['groups', 'roles', 'requiredActions']);
const TEXTS = new Set(['username', 'email', 'firstName', 'lastName', 'password', 'id']);
const ATTRIBUTE = 'attributes.';
/** Between the values of one cell. */
const listIn = (text: string): string[] =>
  text
    .split('|')
    .map((one) => one.trim())
    .filter((one) => one !== '');

/** The columns of a CSV file are named as the API names fields; `attributes.NAME` is an attribute, `|` divides values. */
export function rowsOfCsv(text: string): FileRow[] {
  const [head, ...records] = cellsOf(text);
  if (!head) throw new RowFault('The file is empty.');
  const names = head.cells.map((name) => name.trim());
  if (!names.includes('username')) throw new RowFault('The first line names no column “username”.');
  const unknown = names.find(
    (name) => !BOOLEANS.has(name) && !LISTS.has(name) && !TEXTS.has(name) && !name.startsWith(ATTRIBUTE),
  );
  if (unknown !== undefined) throw new RowFault(`The first line names the unknown column “${unknown}”.`);
  return records.map(({ line, cells }) => {
    const at = `line ${line}`;
    const row: Record<string, unknown> = {};
    const attributes: Record<string, string[]> = {};
    let fault: FileRow['fault'];
    names.forEach((name, i) => {
      const cell = cells[i] ?? '';
      if (cell === '') return;
      if (name.startsWith(ATTRIBUTE)) attributes[name.slice(ATTRIBUTE.length)] = listIn(cell);
      else if (LISTS.has(name)) row[name] = listIn(cell);
      else if (BOOLEANS.has(name)) {
        const isBoolean = /^(true|false)$/i.test(cell);
        if (!isBoolean) fault = { path: name, message: 'is neither true nor false' };
        row[name] = isBoolean ? cell.toLowerCase() === 'true' : cell;
      } else row[name] = cell;
    });
    if (Object.keys(attributes).length > 0) row.attributes = attributes;
    return { ...asRow(row, at), ...(fault && { fault }) };
  });
}

export const rowsOf: Readonly<Record<FileKind, (text: string) => FileRow[]>> = {
  csv: rowsOfCsv,
  json: rowsOfJson,
  ndjson: rowsOfLines,
};
