// `-o jsonpath=TEMPLATE`, the part of kubectl's syntax that scripts use: text, {.field}, ['a.b'], [n], [*], {"\n"}, {range …}{end}.
import { Refused } from './faults.ts';

const STEP = /^(?:\.?\[\*\]|\.\*|\.?\[(-?\d+)\]|\.?\['([^']*)'\]|\.([A-Za-z_$][\w$-]*))/;

/** @throws Refused for an invalid template */
export function jsonPath(template: string, value: unknown): string {
  const pieces = template.match(/\{[^{}]*\}|[^{}]+|[{}]/g) ?? [];
  const { text, next } = render(pieces, 0, value);
  if (next < pieces.length) throw wrong(pieces[next] ?? '');
  return text;
}

function render(pieces: readonly string[], from: number, value: unknown): { text: string; next: number } {
  let text = '';
  let at = from;
  while (at < pieces.length) {
    const piece = pieces[at] ?? '';
    const inside = /^\{(.*)\}$/.exec(piece)?.[1]?.trim();
    if (inside === 'end') return { text, next: at };
    at += 1;
    if (inside === undefined) {
      if (piece === '{' || piece === '}') throw wrong(piece);
      text += piece;
    } else if (inside.startsWith('"')) text += literal(inside);
    else if (inside.startsWith('range ')) {
      const begun = at;
      let end = skipped(pieces, at);
      for (const one of walk(value, inside.slice(6).trim())) {
        const rendered = render(pieces, begun, one);
        text += rendered.text;
        end = rendered.next;
      }
      if (pieces[end] === undefined) throw wrong(piece);
      at = end + 1;
    } else text += walk(value, inside).map(shown).join(' ');
  }
  return { text, next: at };
}

/** The index after the end of the range that begins here. */
function skipped(pieces: readonly string[], from: number): number {
  let depth = 1;
  for (let at = from; at < pieces.length; at += 1) {
    if (/^\{\s*range /.test(pieces[at] ?? '')) depth += 1;
    else if (/^\{\s*end\s*\}$/.test(pieces[at] ?? '')) depth -= 1;
    if (depth === 0) return at;
  }
  return pieces.length;
}

function walk(value: unknown, path: string): unknown[] {
  let rest = path.replace(/^[$@]/, '');
  let found: unknown[] = [value];
  while (rest !== '' && rest !== '.') {
    const [step, index, quoted, name] = STEP.exec(rest) ?? [];
    if (step === undefined) throw wrong(path);
    rest = rest.slice(step.length);
    const field = quoted ?? name;
    found = found.flatMap((one): unknown[] => {
      // kubectl's lists have their objects in a field of this name
      if (field === 'items' && Array.isArray(one)) return [one];
      if (field !== undefined)
        return typeof one === 'object' && one !== null && Object.hasOwn(one, field) ? [Reflect.get(one, field)] : [];
      const all: unknown[] = Array.isArray(one)
        ? one
        : typeof one === 'object' && one !== null
          ? Object.values(one)
          : [];
      return index === undefined ? all : all.slice(Number(index)).slice(0, 1);
    });
  }
  return found;
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

function literal(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    throw wrong(text);
  }
}

const wrong = (what: string) =>
  new Refused(
    `${what} is no JSONPath that realmctl reads`,
    'Such as: -o jsonpath=\'{range [*]}{.clientId}{"\\n"}{end}\'',
  );
