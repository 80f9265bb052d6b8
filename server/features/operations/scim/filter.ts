// Parses filters and PATCH paths to a tree: RFC 7644 §3.4.2.2 and figure 7. schema.ts knows the names' meaning. Pure.
// Length, depth and number of terms are limited, so that no filter can block the process or overflow the stack.
import type { ScimType } from '../../../contract/scim-error.ts';
import { scimProblem } from './fault.ts';

const comparisons = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type Comparison = (typeof comparisons)[number];
export type Literal = string | number | boolean | null;

export type Filter =
  | { is: 'compare'; path: string; op: Comparison; value: Literal }
  | { is: 'present'; path: string }
  | { is: 'and' | 'or'; of: readonly [Filter, Filter] }
  | { is: 'not'; of: Filter }
  /** `emails[type eq "work"]` */
  | { is: 'some'; path: string; of: Filter };

/** `members[value eq "1"].display` */
export interface ValuePath {
  path: string;
  filter?: Filter;
  sub?: string;
}

const LONGEST = 8_000;
const DEEPEST = 20;
const MOST_TOKENS = 1_000;

const TOKEN = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|([^\s()[\]"]+))/y;
const NAME = /^[A-Za-z$][\w.:$-]*$/;
const isComparison = (word: string): word is Comparison => (comparisons as readonly string[]).includes(word);

function tokensOf(text: string, scimType: ScimType): string[] {
  if (text.length > LONGEST) throw scimProblem(scimType, `must have at most ${LONGEST} characters`);
  if (text.includes('\0') || !text.isWellFormed()) throw scimProblem(scimType, 'holds characters that no value has');
  const tokens: string[] = [];
  const source = text.trimEnd();
  TOKEN.lastIndex = 0;
  for (let at = 0; at < source.length; at = TOKEN.lastIndex) {
    const [, bracket, quoted, word] = TOKEN.exec(source) ?? [];
    const token = bracket ?? quoted ?? word;
    if (token === undefined) throw scimProblem(scimType, `can’t be read from character ${at + 1} on`);
    if (tokens.push(token) > MOST_TOKENS)
      throw scimProblem(scimType, `must have at most ${MOST_TOKENS} words and brackets`);
  }
  return tokens;
}

function createParser(text: string, scimType: ScimType) {
  const tokens = tokensOf(text, scimType);
  let at = 0;
  const unexpected = () =>
    scimProblem(scimType, at < tokens.length ? `${tokens[at]} is not expected there` : 'ends too early');
  const next = (): string => {
    const token = tokens[at];
    if (token === undefined) throw unexpected();
    at += 1;
    return token;
  };
  const isNext = (word: string) => tokens[at]?.toLowerCase() === word;
  const expect = (token: string) => {
    if (!isNext(token)) throw unexpected();
    at += 1;
  };
  const name = (): string => {
    const token = tokens[at] ?? '';
    if (!NAME.test(token)) throw unexpected();
    at += 1;
    return token;
  };

  function literal(): Literal {
    const token = next();
    const word = token.toLowerCase();
    // Entra writes True and False.
    if (word === 'true' || word === 'false') return word === 'true';
    if (word === 'null') return null;
    let value: unknown;
    try {
      value = JSON.parse(token);
    } catch {
      value = undefined;
    }
    if (typeof value === 'string' && value.isWellFormed() && !value.includes('\0')) return value;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    throw scimProblem(scimType, `${token} is no value: texts stand in double quotes`);
  }

  function term(depth: number): Filter {
    if (depth > DEEPEST) throw scimProblem(scimType, `is nested more than ${DEEPEST} levels deep`);
    if (isNext('not') && tokens[at + 1] === '(') {
      at += 1;
      return { is: 'not', of: term(depth) };
    }
    if (isNext('(')) {
      at += 1;
      const inner = either(depth + 1);
      expect(')');
      return inner;
    }
    const path = name();
    if (isNext('[')) {
      at += 1;
      const of = either(depth + 1);
      expect(']');
      return tokens[at]?.startsWith('.') ? ofPart(path, of) : { is: 'some', path, of };
    }
    const op = next().toLowerCase();
    if (op === 'pr') return { is: 'present', path };
    if (!isComparison(op)) throw scimProblem(scimType, `${op} is no operator`);
    return { is: 'compare', path, op, value: literal() };
  }
  /** `emails[type eq "work"].value eq "a"`: RFC 7644 has no such filter, but Entra finds users by it. */
  function ofPart(path: string, chosen: Filter): Filter {
    const part = next().slice(1);
    const op = next().toLowerCase();
    if (!NAME.test(part) || (op !== 'pr' && !isComparison(op))) throw unexpected();
    const value = op === 'pr' ? null : literal();
    const such: Filter =
      op === 'pr' ? { is: 'present', path: part } : { is: 'compare', path: part, op: op === 'ne' ? 'eq' : op, value };
    const some: Filter = { is: 'some', path, of: { is: 'and', of: [chosen, such] } };
    return op === 'ne' ? { is: 'not', of: some } : some;
  }
  const joined = (word: 'and' | 'or', part: (depth: number) => Filter) => (depth: number) => {
    let left = part(depth);
    let joins = 0;
    while (isNext(word)) {
      at += 1;
      joins += 1;
      // the tree is left-deep: its depth is the number of conditions
      if (joins > MOST_JOINS) throw scimProblem(scimType, `joins more than ${MOST_JOINS} conditions`);
      left = { is: word, of: [left, part(depth)] };
    }
    return left;
  };
  const both = joined('and', term);
  const either = joined('or', both);

  return {
    name,
    isNext,
    filter: () => either(0),
    inBrackets(): Filter {
      expect('[');
      const filter = either(1);
      expect(']');
      return filter;
    },
    /** Reads `.sub` after a bracket. */
    sub(): string | undefined {
      const token = tokens[at];
      if (token === undefined) return undefined;
      if (!/^\.[\w$-]+$/.test(token)) throw unexpected();
      at += 1;
      return token.slice(1);
    },
    end() {
      if (at < tokens.length) throw unexpected();
    },
  };
}

const MOST_JOINS = 200;

/** @throws Problem `invalidFilter` */
export function parseFilter(text: string): Filter {
  const parser = createParser(text, 'invalidFilter');
  const filter = parser.filter();
  parser.end();
  return filter;
}

/** @throws Problem `invalidPath` */
export function parsePath(text: string): ValuePath {
  const parser = createParser(text, 'invalidPath');
  const path = parser.name();
  if (!parser.isNext('[')) {
    parser.end();
    return { path };
  }
  const filter = parser.inBrackets();
  const sub = parser.sub();
  parser.end();
  return { path, filter, ...(sub !== undefined && { sub }) };
}
