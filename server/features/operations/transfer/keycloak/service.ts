// Owns: converting a Keycloak export to a realm document: the realm among its files, their order, and the report of omitted values.
// Does not own: what each object becomes (document.ts, users.ts), the document's text (writer.ts), planning and writing (features/operations/transfer's
// import).
// Implements: decisions "Import, export, plan" (import/keycloak); specification 4.2.
import type { NotCarried } from '../../../../contract/keycloak.ts';
import { type FieldError, Problem } from '../../../../contract/problem.ts';
import type { Sql } from '../../../../db/sql.ts';
import { readProfile } from '../../../../domain/user-profile.ts';
import type { RealmPart } from '../../../../resource/part.ts';
import type { Slice } from '../document-stream.ts';
import type { Imported, ImportRequest, Transfer } from '../service.ts';
import { issuersIn } from './document.ts';
import { MIB, MOST_HELD, piecesOf } from './files.ts';
import { parseExported } from './lenient.ts';
import { createNotes, type Notes } from './notes.ts';
import { clashingUsers, type UserText } from './people.ts';
import { createWriter, type Stored } from './writer.ts';

export interface KeycloakImported extends Imported {
  notCarried: NotCarried[];
  notCarriedCount: number;
}

export type KeycloakRequest = ImportRequest & { from: string | undefined };

/** The size of a batch of users. */
const BATCH_BYTES = 16 * MIB;

export function createKeycloakImport({
  transfer,
  parts,
  sql,
}: {
  transfer: Pick<Transfer, 'import' | 'check'>;
  parts: readonly RealmPart[];
  sql: Sql;
}) {
  /** The stored realm's objects that users refer to, for users imported without their realm's file. */
  async function stored(realm: string): Promise<Stored> {
    const [row] = await sql<{ roles: string[]; groups: string[]; clients: string[]; clientRoles: [string, string][] }>`
      select array(select name from role where realm_id = ${realm} and client is null) as roles,
        array(select path from user_group where realm_id = ${realm}) as groups,
        array(select client_id from client where realm_id = ${realm}) as clients,
        (select coalesce(jsonb_agg(jsonb_build_array(c.client_id, r.name)), '[]') from role r
          join client c on c.realm_id = r.realm_id and c.id = r.client where r.realm_id = ${realm}) as "clientRoles"`;
    const byClient = Map.groupBy(row?.clientRoles ?? [], ([clientId]) => clientId);
    return {
      profile: await readProfile(sql, realm),
      issuers: issuersIn(await sql`select alias, type, config from identity_provider where realm_id = ${realm}`),
      there: {
        roles: new Set(row?.roles),
        groups: new Set(row?.groups),
        clients: new Set(row?.clients),
        clientRoles: new Map([...byClient].map(([id, roles]) => [id, new Set(roles.map(([, name]) => name))])),
      },
    };
  }

  return async ({ body, from, ...request }: KeycloakRequest): Promise<KeycloakImported> => {
    const notes = createNotes();
    const { realm } = request;
    /** The faults that a plan finds in these sections' objects. Other refusals are left to the import itself. */
    async function check(sections: ReadonlyMap<string, unknown>): Promise<readonly FieldError[]> {
      const text = Buffer.from(JSON.stringify(Object.fromEntries(sections)));
      try {
        await transfer.check({
          ...request,
          body: (async function* () {
            yield text;
          })(),
        });
        return [];
      } catch (error) {
        request.signal.throwIfAborted();
        return error instanceof Problem ? (error.errors ?? []) : [];
      }
    }
    const isEmpty = (await sql`select from realm_user where realm_id = ${realm} limit 1`).length === 0;
    const document = translated(body, {
      from: from ?? realm,
      isAsked: from !== undefined,
      notes,
      stored: () => stored(realm),
      writer: createWriter({
        realm,
        parts,
        notes,
        check,
        clashesWith: async (users) => (isEmpty || users.length === 0 ? [] : clashingUsers(sql, realm, users)),
      }),
    });
    const imported = await transfer.import({ ...request, body: document });
    return { ...imported, ...notes.all() };
  };
}
export type KeycloakImport = ReturnType<typeof createKeycloakImport>;

/** One realm, as read from the files so far. */
interface Source {
  /** The number of the file that has the realm's fields; until that file is read, of the first file with its users. */
  file: number;
  fields: Record<string, unknown>;
  /** The users' JSON texts, held only until the realm's own file has been read. */
  users: UserText[];
  config: boolean;
}

interface Target {
  from: string;
  isAsked: boolean;
  notes: Notes;
  writer: ReturnType<typeof createWriter>;
  /** The objects of the stored realm, for users without their realm's file. */
  stored(): Promise<Stored>;
}

/** The fields of a file that holds only users. */
const OF_USERS = new Set(['realm', 'users', 'federatedUsers']);

async function* translated(
  body: AsyncIterable<Buffer>,
  { from, isAsked, notes, writer, stored }: Target,
): AsyncGenerator<Buffer> {
  const sources = new Map<string, Source>();
  let held = 0;
  let number = 0;
  let file: Source = fresh(number);
  let batch: UserText[] = [];
  let batched = 0;
  async function* flush() {
    yield* writer.users(batch);
    [batch, batched] = [[], 0];
  }
  for await (const { slice, end, listed } of piecesOf(body)) {
    const name = nameOf(file);
    if (end) {
      if (listed) notes.listed();
      const before = sources.get(name);
      const isAgain = before?.config === true && file.config;
      if (isAgain) notes.add({ kind: 'realm', key: name, path: '', file: number }, 'is there twice: the first counts');
      const source = {
        file: file.config && !isAgain ? number : (before?.file ?? number),
        fields: isAgain ? before.fields : { ...before?.fields, ...file.fields },
        users: [...(before?.users ?? []), ...file.users],
        config: before?.config === true || file.config,
      };
      sources.set(name, source);
      if (source.config && !writer.began() && name === from) {
        yield* writer.realm(source.fields, source.file);
        batch = source.users;
        source.users = [];
        yield* flush();
      }
      number += 1;
      file = fresh(number);
      continue;
    }
    const { key, index, text, fault } = slice;
    if (fault !== undefined && key === 'users' && index !== undefined) {
      const path = `users[${index}]`;
      notes.add({ kind: 'user', key: path, path, file: number }, `can’t be read: ${fault}`);
    } else if (key !== 'users') {
      file.config ||= !OF_USERS.has(key);
      keep(file, slice, notes);
    } else if (text !== undefined || fault !== undefined) {
      if (index === undefined || text === undefined) {
        notes.add({ kind: 'realm', key: name, field: 'users', path: 'users', file: number }, 'is no list');
        continue;
      }
      const user = { text, file: number, index };
      if (writer.began() && name === from) {
        batch.push(user);
        batched += text.length;
        if (batched > BATCH_BYTES) yield* flush();
        continue;
      }
      held += text.length;
      if (held > MOST_HELD)
        throw new Problem(
          'too-large',
          `More than ${MOST_HELD} bytes of users come before their realm: send the realm’s file first, then those of its users (kc.sh export --users different_files)`,
        );
      file.users.push(user);
    }
  }
  yield* flush();
  if (!writer.began()) {
    const source = chosen(sources, from, isAsked);
    if (source.config) yield* writer.realm(source.fields, source.file);
    else writer.fit(await stored());
    batch = source.users;
    yield* flush();
  }
  for (const [name, { config }] of sources)
    if (config && sources.size > 1 && !writer.is(name))
      notes.add({ kind: 'realm', key: name }, 'is another realm: import it by itself');
  yield* writer.end();
}

const fresh = (file: number): Source => ({ file, fields: {}, users: [], config: false });
const nameOf = ({ fields: { realm } }: Source): string => (typeof realm === 'string' ? realm : '');
const refused = (message: string) => new Problem('invalid-request', message, { errors: [{ path: '', message }] });

function keep({ fields, file }: Source, { key, index, text, fault }: Slice, notes: Notes): void {
  // Only whether a directory has user data matters, not the data.
  if (key === 'federatedUsers') {
    fields[key] = text === undefined ? [] : ['***'];
    return;
  }
  const path = index === undefined ? key : `${key}[${index}]`;
  const tell = (why: string) => notes.add({ kind: 'realm', key: '', field: path, path, file }, why);
  if (fault !== undefined) tell(`can’t be read: ${fault}`);
  const value = text === undefined ? undefined : parseExported(text, tell);
  if (index === undefined) fields[key] = text === undefined && fault === undefined ? [] : value;
  else {
    const list = fields[key];
    // an unreadable element keeps its index
    if (Array.isArray(list)) list.push(value);
    else fields[key] = [value];
  }
}

function chosen(sources: ReadonlyMap<string, Source>, wanted: string, asked: boolean): Source {
  const [only, ...more] = sources.values();
  const source = sources.get(wanted) ?? (asked || more.length > 0 ? undefined : only);
  if (source) return source;
  throw refused(`There is no realm ${wanted} in the export, but ${[...sources.keys()].join(', ')}: say which by from`);
}
