// Renders SQL templates: values and pieces of SQL become `{text, values, name}`. pipeline.ts and sql.ts run them.
import { createHash } from 'node:crypto';

/** A piece of SQL with its values, made by {@link fragment}; it is spliced into the statement, never sent as a value. */
export class Fragment {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
  /** No statement with this fragment runs again, so it is not prepared. */
  readonly once: boolean;
  constructor(strings: readonly string[], values: readonly unknown[], once = false) {
    this.strings = strings;
    this.values = values;
    this.once = once;
  }
  /** @param text the server's own text, never a user's */
  static once(text: string): Fragment {
    return new Fragment([text], [], true);
  }
}

/** Makes a piece of SQL to be spliced into another: `sql\`select … where ${fragment\`id = ${id}\`}\``. */
export const fragment = (strings: TemplateStringsArray, ...values: readonly unknown[]) => new Fragment(strings, values);

/** SQL text with its values. A statement with a name, which is derived from the text, stays prepared on its connection. */
export interface Statement {
  readonly text: string;
  readonly name: string;
  readonly values: readonly unknown[];
}

/** The rendered statement of one place in the code, with the fragments it had. */
interface Rendered {
  text: string;
  name: string;
  pieces: readonly (readonly string[])[];
}
const rendered = new WeakMap<readonly string[], Rendered>();
const names = new Map<string, string>();

function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash('sha256').update(text).digest('base64url').slice(0, 24);
    names.set(text, name);
  }
  return name;
}

function render(strings: readonly string[], values: readonly unknown[], from: { next: number }): string {
  let text = '';
  for (const [i, string] of strings.entries()) {
    text += string;
    if (i >= values.length) continue;
    const value = values[i];
    if (value instanceof Fragment) text += render(value.strings, value.values, from);
    else {
      text += `$${from.next}`;
      from.next += 1;
    }
  }
  return text;
}

/** @returns whether the statement runs only once, and so isn't worth preparing */
function flatten(values: readonly unknown[], flat: unknown[], pieces: (readonly string[])[]): boolean {
  let once = false;
  for (const value of values) {
    if (value instanceof Fragment) {
      pieces.push(value.strings);
      if (flatten(value.values, flat, pieces) || value.once) once = true;
    } else flat.push(value);
  }
  return once;
}

const same = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((piece, i) => piece === b[i]);

/** Each place in the code is rendered once, and again if its fragments differ from the last time. */
export function statement(strings: TemplateStringsArray, ...values: readonly unknown[]): Statement {
  const flat: unknown[] = [];
  const pieces: (readonly string[])[] = [];
  if (flatten(values, flat, pieces)) return { text: render(strings, values, { next: 1 }), name: '', values: flat };
  let known = rendered.get(strings);
  if (!known || !same(known.pieces, pieces)) {
    const text = render(strings, values, { next: 1 });
    known = { text, name: nameOf(text), pieces };
    rendered.set(strings, known);
  }
  return { text: known.text, name: known.name, values: flat };
}
