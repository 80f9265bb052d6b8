// Owns: importing users row by row: a row's form, plain passwords, and the choice between all rows or none.
// Does not own: comparing, setting rows aside, writing, rights (service.ts), splitting the body into rows (user-rows.ts).
// Implements: decisions "Import, export, plan" (POST /users/import); specification 4.2.

import { z } from 'zod';
import { type FieldError, fieldErrorOf, Problem } from '../../../contract/problem.ts';
import { MOST_TOLD, type TakenRow, UserRow, type UsersImported } from '../../../contract/user-import.ts';
import { issuesAt, joinPaths } from '../../../resource/items.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import { parseJson } from './document-stream.ts';
import type { Row } from './rows.ts';
import type { ImportRequest, Transfer } from './service.ts';
import { lines, type RowText } from './user-rows.ts';

/** The most rows in memory at once; their passwords are hashed in parallel. */
const PIECE = 1000;
const PIECE_LENGTH = 4 * 1024 * 1024;

export type UserImportRequest = Pick<ImportRequest, 'principal' | 'by' | 'realm' | 'signal' | 'body'> & {
  rows(body: AsyncIterable<Buffer>): AsyncIterable<RowText>;
  atomic: boolean;
};

export interface UserImportDeps {
  transfer: Pick<Transfer, 'import' | 'importRows'>;
  credentials: Pick<Credentials, 'newPasswordFaults' | 'hashPassword'>;
}

const query = { manager: 'import', dryRun: false, prune: false, force: false };

export function createUserImport({ transfer, credentials }: UserImportDeps) {
  /** Converts a row to a user of a document: a plain password becomes a credential with its hash. */
  async function read(realm: string, { text, fault }: RowText): Promise<{ value: unknown } | { errors: FieldError[] }> {
    if (fault !== undefined) return { errors: [{ path: '', message: fault }] };
    let value: unknown;
    try {
      value = parseJson(text, '');
    } catch (error) {
      return { errors: faultsOfText(error) };
    }
    // The import itself checks a row that has only a document's fields.
    if (!hasFieldsOfItsOwn(value)) return { value };
    const { data: row, error } = UserRow.safeParse(value);
    if (error) return { errors: issuesAt('', error) };
    const { password, passwordTemporary: temporary = false, ...user } = row;
    const { username, email = null, firstName, lastName, credentials: others = [] } = user;
    if (password === undefined) return { value: user };
    const faults = await credentials.newPasswordFaults(realm, password, { username, email, firstName, lastName });
    if (faults.length > 0) return { errors: faults.map((fault) => fieldErrorOf({ path: 'password', fault })) };
    const phc = await credentials.hashPassword(password);
    return { value: { ...user, credentials: [...others, { type: 'password', phc, temporary }] } };
  }

  async function* rowsOf(realm: string, texts: AsyncIterable<RowText>): AsyncGenerator<Row[]> {
    let n = 0;
    for await (const piece of pieces(texts)) {
      const first = n;
      n += piece.length;
      yield await Promise.all(
        piece.map(async (text, i): Promise<Row> => ({ n: first + i, ...(await read(realm, text)) })),
      );
    }
  }

  async function allOrNone({ rows, body, ...request }: UserImportRequest): Promise<UsersImported> {
    let count = 0;
    const told: Taken[] = [];
    async function* texts() {
      for await (const piece of rowsOf(request.realm, rows(body)))
        for (const { n, value, errors } of piece) {
          if (errors) throw refusalOf(n, errors);
          if (told.length < MOST_TOLD) told.push({ n, username: usernameOf(value) });
          count += 1;
          yield JSON.stringify(value);
        }
    }
    const { plan, users } = await transfer.import({ ...request, body: documentOf(texts()), query, ifMatch: undefined });
    const actions = users ? await actionsIn(await users.lines()).finally(users.discard) : new Map<string, Action>();
    const { create, update } = plan.summary;
    const unchanged = count - create - update;
    return { created: create, updated: update, unchanged, failed: 0, rows: taken(told, actions), failures: [] };
  }

  return ({ atomic, rows, ...request }: UserImportRequest): Promise<UsersImported> =>
    atomic
      ? allOrNone({ atomic, rows, ...request })
      : transfer.importRows({ ...request, read: (body) => rowsOf(request.realm, rows(body)) });
}
export type UserImport = ReturnType<typeof createUserImport>;

function faultsOfText(error: unknown): FieldError[] {
  if (!(error instanceof Problem)) throw error;
  const { errors = [] } = error;
  // V8 gives a position within the row, which differs from the position in the body, so it is left out.
  return errors.map(({ path, message }) => ({
    path,
    message: message.startsWith('is not valid JSON') ? 'is not valid JSON' : message,
  }));
}

/** Rows with one of these fields are parsed by the row's schema. It refuses `olderThanProfile`, which only documents have. */
const OWN = ['password', 'passwordTemporary', 'olderThanProfile'];
const hasFieldsOfItsOwn = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && OWN.some((field) => field in value);

function refusalOf(n: number, errors: readonly FieldError[]): Problem {
  const found = errors.map(({ path, message }) => ({ path: joinPaths(`users[${n}]`, path), message }));
  return new Problem('invalid-request', `${found[0]?.path}: ${found[0]?.message}`, { errors: found });
}

interface Taken {
  n: number;
  username: string;
}
const Named = z.object({ username: z.string() }).catch({ username: '' });
/** The username of a row that is not checked yet. */
const usernameOf = (value: unknown): string => Named.parse(value).username;

type Action = 'created' | 'updated';
const Change = z.object({ action: z.enum(['create', 'update']), key: z.string() });

/** The actions by case-folded username, for the first changes, which the response lists. */
async function actionsIn(changes: AsyncIterable<Buffer>): Promise<Map<string, Action>> {
  const found = new Map<string, Action>();
  for await (const line of lines(changes)) {
    if (found.size >= MOST_TOLD) break;
    // each line begins with a comma
    const { action, key } = Change.parse(JSON.parse(line.slice(1)));
    found.set(key.toLowerCase(), action === 'create' ? 'created' : 'updated');
  }
  return found;
}

const taken = (rows: readonly Taken[], actions: ReadonlyMap<string, Action>): TakenRow[] =>
  rows.map(({ n, username }) => ({ row: n, username, action: actions.get(username.toLowerCase()) ?? 'unchanged' }));

async function* pieces(rows: AsyncIterable<RowText>): AsyncGenerator<RowText[]> {
  let piece: RowText[] = [];
  let length = 0;
  for await (const row of rows) {
    length += row.text?.length ?? 0;
    if (piece.push(row) < PIECE && length < PIECE_LENGTH) continue;
    yield piece;
    piece = [];
    length = 0;
  }
  if (piece.length > 0) yield piece;
}

async function* documentOf(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let before = '{"users":[';
  for await (const text of texts) {
    yield Buffer.from(before + text);
    before = ',';
  }
  yield Buffer.from(before === ',' ? ']}' : `${before}]}`);
}
