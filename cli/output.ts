// Owns: the formats of results: table, json, yaml, name (`-o`); colour; the filter that makes a server's text safe for the terminal.
// Does not own: the text of plans (plan.ts).
// Implements: docs/cli.md: coloured, table, JSON and YAML output; NO_COLOR (no-color.org).
import { type Command, InvalidArgumentError, Option } from 'commander';
import { stringify } from 'yaml';
import { instant, withTimes } from './cells.ts';
import type { Io } from './command.ts';
import { jsonPath } from './json-path.ts';

export const formats = ['table', 'json', 'yaml', 'name'] as const;
export type Format = (typeof formats)[number] | `jsonpath=${string}`;

/** The option `-o`: one of these formats, or `jsonpath=TEMPLATE`. */
export function outputOption(of: readonly string[]): Option {
  const option = new Option('-o, --output <format>', 'how it is written; also jsonpath=TEMPLATE').choices(of);
  return option.argParser((value) => {
    if (value.startsWith('jsonpath=') || of.includes(value)) return value;
    throw new InvalidArgumentError(`Allowed choices are ${of.join(', ')}, jsonpath=TEMPLATE.`);
  });
}

export interface Table {
  head: readonly string[];
  rows: readonly (readonly string[])[];
}

/** A result in every format; only the requested one is computed. */
export interface View {
  value: unknown;
  table: () => Table | string;
  /** One name per line, for `xargs` and loops. */
  names?: () => string[];
}

/** Adds `-o, --output`; `name` only if the view has names. */
export function addOutput(command: Command, { names = false }: { names?: boolean } = {}): Command {
  return command.addOption(outputOption(formats.filter((one) => one !== 'name' || names)).default('table'));
}

export function print(io: Io, format: Format, view: View): void {
  const text = formattedView(io, format, view);
  if (text !== '') io.stdout.write(`${text}\n`);
}

export function formattedView(io: Io, format: Format, { value: answered, table, names }: View): string {
  // as in tables: a moment is no number that only a program can read
  const value = format === 'table' || format === 'name' ? answered : withTimes(answered, instant);
  if (format === 'json') return jsonText(value, 2);
  if (format === 'yaml') {
    const text = escaped(stringify(value).trimEnd());
    return io.shown ? text.split('\n').map(plain).join('\n') : text;
  }
  if (format.startsWith('jsonpath=')) {
    // in the API's form, without undefined values or classes
    const text = jsonPath(format.slice('jsonpath='.length), JSON.parse(JSON.stringify(value)));
    return text.replace(/\n$/, '').split('\n').map(plain).join('\n');
  }
  if (format === 'name') return (names?.() ?? []).map(plain).join('\n');
  const shown = table();
  return typeof shown === 'string' ? shown : columns(io, shown);
}

/** Writes a message in addition to the result: progress, a warning, a completed action. */
export const writeLine = (io: Pick<Io, 'stderr'>, text: string): void => {
  io.stderr.write(`${text.split('\n').map(plain).join('\n')}\n`);
};

function columns(io: Io, { head, rows }: Table): string {
  const cells = [head, ...rows].map((row) => row.map(plain));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row, index) => {
      const line = row.map((cell, column) => (column === head.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)));
      const text = line.join('   ').trimEnd();
      return index === 0 ? paint(io, 'bold', text) : text;
    })
    .join('\n');
}

/**
 * Makes text from a server or a file safe to print: control characters, and those that reorder text, are shown by
 * number, so that they can't control the terminal.
 */
export const plain = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (char) => {
    const code = char.charCodeAt(0).toString(16).padStart(4, '0');
    return char === '\t' ? ' ' : `\\u${code}`;
  });

/**
 * The same for JSON and YAML, whose values must stay the same. Both writers put such characters between double quotes, but
 * escape only those below a blank, and a terminal obeys U+009B as it does ESC and [.
 */
const escaped = (text: string, which = /[\u007f-\u009f]/g): string =>
  text.replace(which, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The value as JSON, in which characters that steer a terminal or reorder its text are escaped. */
export const jsonText = (value: unknown, indent?: number): string =>
  escaped(JSON.stringify(value, null, indent), /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g);

/** Start and end sequences (ECMA-48 SGR). Not every Node 20 has node:util’s own function. */
const styles = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  magenta: [35, 39],
} as const;
export const paint = ({ colour }: Pick<Io, 'colour'>, style: keyof typeof styles, text: string): string => {
  const [on, off] = styles[style];
  return colour ? `\u001b[${on}m${text}\u001b[${off}m` : text;
};
