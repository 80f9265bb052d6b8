// Owns: importing users row by row: pieces of the stream are realm documents of users alone, which the import writes; a row
// that is refused is set aside and the others are tried again.
// Does not own: comparing, writing, rights (service.ts), rows while they arrive (user-rows.ts).
// Implements: decisions "Import, export, plan" (POST /users/import); specification 4.2.
import { z } from 'zod';
import { type FieldError, Problem } from '../../contract/problem.ts';
import { MOST_TOLD, type TakenRow, UserRow, type UsersImported } from '../../contract/user-import.ts';
import { issuesAt } from '../../resource/items.ts';
import type { Credentials } from '../credentials/service.ts';
import type { ImportRequest, Transfer } from './service.ts';
import { lines } from './user-rows.ts';

/** At once: they and what becomes of them stand in memory. */
const PIECE = 1000;
const MOST_FAILURES = 1000;

export type UserImportRequest = Pick<ImportRequest, 'principal' | 'by' | 'realm' | 'signal'> & {
  rows: AsyncIterable<string>;
  atomic: boolean;
};

interface Prepared {
  username: string;
  text: string;
}
interface Row extends Prepared {
  n: number;
}

export interface UserImportDeps {
  transfer: Pick<Transfer, 'import'>;
  credentials: Pick<Credentials, 'newPasswordFaults' | 'hashPassword'>;
}

const query = { manager: 'import', dryRun: false, prune: false, force: false };

export function createUserImport({ transfer, credentials }: UserImportDeps) {
  /** A plain password becomes the credential that it is from here on. */
  async function prepared(realm: string, text: string): Promise<Prepared | { errors: FieldError[] }> {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return { errors: [{ path: '', message: 'is not valid JSON' }] };
    }
    const { data: row, error } = UserRow.safeParse(value);
    if (error) return { errors: issuesAt('', error) };
    const { password, passwordTemporary: temporary = false, ...user } = row;
    const { username, email = null, credentials: others = [] } = user;
    if (password === undefined) return { username, text: JSON.stringify(user) };
    const faults = await credentials.newPasswordFaults(realm, password, { username, email });
    if (faults.length > 0) return { errors: faults.map((message) => ({ path: 'password', message })) };
    const phc = await credentials.hashPassword(password);
    return {
      username,
      text: JSON.stringify({ ...user, credentials: [...others, { type: 'password', phc, temporary }] }),
    };
  }

  async function write(request: UserImportRequest, texts: AsyncIterable<string> | readonly string[]) {
    const { plan, users } = await transfer.import({ ...request, body: documentOf(texts), query, ifMatch: undefined });
    const actions = users ? await actionsIn(await users.lines()).finally(users.discard) : new Map<string, Action>();
    return { ...plan.summary, actions };
  }

  async function rowByRow(request: UserImportRequest): Promise<UsersImported> {
    const done: UsersImported = { created: 0, updated: 0, unchanged: 0, failed: 0, rows: [], failures: [] };
    const fail = (row: number, errors: FieldError[]): void => {
      done.failed += 1;
      if (done.failures.length < MOST_FAILURES) done.failures.push({ row, errors });
    };
    async function tryAll(rows: readonly Row[]): Promise<void> {
      if (rows.length === 0) return;
      try {
        const { create, update, actions } = await write(
          request,
          rows.map(({ text }) => text),
        );
        done.created += create;
        done.updated += update;
        done.unchanged += rows.length - create - update;
        done.rows.push(...taken(rows.slice(0, MOST_TOLD - done.rows.length), actions));
      } catch (error) {
        if (!(error instanceof Problem) || !OF_ROWS.has(error.code)) throw error;
        const named = faultsByRow(error);
        for (const [i, errors] of named) fail(rows[i]?.n ?? 0, errors);
        const left = rows.filter((_, i) => !named.has(i));
        if (named.size > 0) return tryAll(left);
        const [only] = rows;
        if (rows.length === 1 && only) return fail(only.n, [{ path: '', message: error.detail ?? error.message }]);
        const middle = rows.length >> 1;
        await tryAll(rows.slice(0, middle));
        await tryAll(rows.slice(middle));
      }
    }
    let n = 0;
    for await (const texts of pieces(request.rows)) {
      const first = n;
      n += texts.length;
      const all = await Promise.all(texts.map((text) => prepared(request.realm, text)));
      const good: Row[] = [];
      for (const [i, row] of all.entries()) {
        if ('errors' in row) fail(first + i, row.errors);
        else good.push({ n: first + i, ...row });
      }
      await tryAll(good);
    }
    return done;
  }

  async function allOrNone(request: UserImportRequest): Promise<UsersImported> {
    let count = 0;
    const told: Omit<Row, 'text'>[] = [];
    async function* texts() {
      for await (const text of request.rows) {
        const row = await prepared(request.realm, text);
        const at = `users[${count}]`;
        if ('errors' in row) {
          const errors = row.errors.map(({ path, message }) => ({ path: path ? `${at}.${path}` : at, message }));
          throw new Problem('invalid-request', `${errors[0]?.path}: ${errors[0]?.message}`, { errors });
        }
        if (told.length < MOST_TOLD) told.push({ n: count, username: row.username });
        count += 1;
        yield row.text;
      }
    }
    const { create, update, actions } = await write(request, texts());
    const unchanged = count - create - update;
    return { created: create, updated: update, unchanged, failed: 0, rows: taken(told, actions), failures: [] };
  }

  return (request: UserImportRequest): Promise<UsersImported> =>
    request.atomic ? allOrNone(request) : rowByRow(request);
}
export type UserImport = ReturnType<typeof createUserImport>;

type Action = 'created' | 'updated';
const Change = z.object({ action: z.enum(['create', 'update']), key: z.string() });

/** By the case-folded username; of the first that are told of. */
async function actionsIn(changes: AsyncIterable<Buffer>): Promise<Map<string, Action>> {
  const found = new Map<string, Action>();
  for await (const line of lines(changes)) {
    if (found.size >= MOST_TOLD) break;
    // each behind a comma
    const { action, key } = Change.parse(JSON.parse(line.slice(1)));
    found.set(key.toLowerCase(), action === 'create' ? 'created' : 'updated');
  }
  return found;
}

const taken = (rows: readonly Omit<Row, 'text'>[], actions: ReadonlyMap<string, Action>): TakenRow[] =>
  rows.map(({ n, username }) => ({ row: n, username, action: actions.get(username.toLowerCase()) ?? 'unchanged' }));

/** What a row can be at fault for; anything else ends the import. */
const OF_ROWS = new Set([
  'invalid-request',
  'name-taken',
  'managed-by-another',
  'privilege-escalation',
  'last-administrator',
]);

/** By their place in the piece. */
function faultsByRow({ errors = [] }: Problem): Map<number, FieldError[]> {
  const found = new Map<number, FieldError[]>();
  for (const { path, message } of errors) {
    const [, place, rest = ''] = /^users\[(\d+)\]\.?(.*)$/.exec(path) ?? [];
    if (place === undefined) continue;
    const of = found.get(Number(place)) ?? [];
    found.set(Number(place), [...of, { path: rest, message }]);
  }
  return found;
}

async function* pieces(rows: AsyncIterable<string>): AsyncGenerator<string[]> {
  let piece: string[] = [];
  for await (const row of rows) {
    if (piece.push(row) < PIECE) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

async function* documentOf(texts: AsyncIterable<string> | readonly string[]): AsyncGenerator<Buffer> {
  let before = '{"users":[';
  for await (const text of texts) {
    yield Buffer.from(before + text);
    before = ',';
  }
  yield Buffer.from(before === ',' ? ']}' : `${before}]}`);
}
