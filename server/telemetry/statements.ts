// Spans of SQL, by a statement's operation and table: `select app_user`. Only the server's own text is read, with `$1` where values go.
// Semantic conventions "Database client calls", query summary.
import { isTraced, traced } from './spans.ts';

interface Sent {
  readonly text: string;
  readonly name: string;
}

const NAMED = /\b(insert\s+into|update|delete\s+from|from)\s+([a-z_][a-z_.]*)/i;
const FIRST = /^\s*([a-z]+)/i;
const MOST_KEPT = 5_000;
const known = new Map<string, string>();

/** @returns `begin`, `select app_user`, `insert event`, or the first word alone if no table is named */
export function statementName(text: string): string {
  const kept = known.get(text);
  if (kept !== undefined) return kept;
  const first = FIRST.exec(text)?.[1]?.toLowerCase() ?? 'query';
  const [, verb = '', table = ''] = NAMED.exec(text) ?? [];
  const operation = /^from/i.test(verb) ? 'select' : (verb.split(/\s/)[0]?.toLowerCase() ?? first);
  const name = table === '' ? first : `${operation} ${table.toLowerCase()}`;
  if (known.size < MOST_KEPT) known.set(text, name);
  return name;
}

const FRAME = new Set(['begin', 'commit', 'rollback']);
const LONGEST = 255;

function nameOfAll(statements: readonly Sent[]): string {
  const names = [...new Set(statements.map(({ text }) => statementName(text)))];
  const work = names.filter((name) => !FRAME.has(name));
  return (work.length > 0 ? work : names).join('; ').slice(0, LONGEST);
}

/** Traces statements that go in one message. */
export function tracedSql<T>(statements: readonly Sent[], work: () => Promise<T>): Promise<T> {
  if (!isTraced()) return work();
  const [{ name = '' } = {}] = statements;
  const attributes = {
    'db.system.name': 'postgresql',
    ...(statements.length > 1 && { 'db.operation.batch.size': statements.length }),
    ...(name !== '' && { 'realmkeeper.statement': name }),
  };
  return traced(nameOfAll(statements), { kind: 'client', within: true, attributes }, work);
}
