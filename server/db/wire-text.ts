// A value as PostgreSQL reads it: text, bytes for a Buffer, or nothing. As pg itself does it, but that moments are in UTC.

export function wireText(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return String(value);
  if (Buffer.isBuffer(value)) return value;
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof Date) return momentText(value);
  return Array.isArray(value) ? arrayText(value) : JSON.stringify(value);
}

/** The last one: a statement often names the same moment several times. */
let last = { ms: Number.NaN, text: '' };

/** PostgreSQL writes years beyond four digits without a sign, and those before 1 with BC. */
function momentText(date: Date): string {
  const ms = date.getTime();
  if (ms !== last.ms) last = { ms, text: written(date) };
  return last.text;
}

function written(date: Date): string {
  const iso = date.toISOString();
  const year = date.getUTCFullYear();
  if (year >= 1 && year <= 9999) return iso;
  const rest = iso.slice(iso.indexOf('-', 1));
  return year > 0 ? `${year}${rest}` : `${String(1 - year).padStart(4, '0')}${rest} BC`;
}

function arrayText(values: readonly unknown[]): string {
  const items = values.map((value) => {
    if (Array.isArray(value)) return arrayText(value);
    const text = wireText(value);
    if (text === null) return 'NULL';
    return Buffer.isBuffer(text) ? `"\\\\x${text.toString('hex')}"` : quoted(text);
  });
  return `{${items.join(',')}}`;
}

const SPECIAL = /[\\"]/;
const quoted = (text: string): string => (SPECIAL.test(text) ? `"${text.replace(/[\\"]/g, '\\$&')}"` : `"${text}"`);
