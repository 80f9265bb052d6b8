// Owns: an export of Keycloak as a realm document: which realm of its files, in which order, and what couldn't be carried over.
// Does not own: what each object becomes (document.ts, users.ts), planning and writing (features/transfer's import).
// Implements: decisions "Import, export, plan" (import/keycloak); specification 4.2.

import type { NotCarried } from '../../../contract/keycloak.ts';
import { Problem } from '../../../contract/problem.ts';
import type { UserProfile } from '../../../contract/user-profile.ts';
import type { Sql } from '../../../db/sql.ts';
import { readProfile } from '../../../domain/user-profile.ts';
import { strings } from '../../../resource/items.ts';
import type { RealmPart } from '../../../resource/part.ts';
import { parseJson } from '../document-stream.ts';
import type { Imported, ImportRequest, Transfer } from '../service.ts';
import { documentOf, issuersIn, type TranslatedRealm } from './document.ts';
import { MOST_HELD, piecesOf } from './files.ts';
import { createNotes, type Notes } from './notes.ts';
import { createPace } from './pace.ts';
import { type Surroundings, userOf } from './users.ts';

export interface KeycloakImported extends Imported {
  notCarried: NotCarried[];
  notCarriedCount: number;
}

export type KeycloakRequest = ImportRequest & { from: string | undefined };

export function createKeycloakImport({
  transfer,
  parts,
  sql,
}: {
  transfer: Pick<Transfer, 'import'>;
  parts: readonly RealmPart[];
  sql: Sql;
}) {
  return async ({ body, from, ...request }: KeycloakRequest): Promise<KeycloakImported> => {
    const notes = createNotes();
    const { realm } = request;
    const stored = async () => ({
      profile: await readProfile(sql, realm),
      issuers: issuersIn(await sql`select alias, type, config from identity_provider where realm_id = ${realm}`),
    });
    const document = translated(body, { realm, from, parts, notes, stored });
    const imported = await transfer.import({ ...request, body: document });
    return { ...imported, ...notes.all() };
  };
}
export type KeycloakImport = ReturnType<typeof createKeycloakImport>;

/** What is known of one realm of the files. */
interface Source {
  fields: Record<string, unknown>;
  /** As they stand in the file; only until the realm is known. */
  users: string[];
  config: boolean;
}

interface Target {
  realm: string;
  from: string | undefined;
  parts: readonly RealmPart[];
  notes: Notes;
  /** The realm's own, for people who come without theirs. */
  stored(): Promise<Stored>;
}
interface Stored {
  profile: UserProfile;
  issuers: ReadonlyMap<string, string | undefined>;
}

/** Fields that a file of users has beside them. */
const OF_USERS = new Set(['realm', 'users', 'federatedUsers']);

async function* translated(body: AsyncIterable<Buffer>, target: Target): AsyncGenerator<Buffer> {
  const { realm, from, notes } = target;
  const sources = new Map<string, Source>();
  const writer = createWriter(target);
  let held = 0;
  let file: Source = fresh();
  for await (const { slice, end } of piecesOf(body)) {
    const name = nameOf(file);
    if (end) {
      const before = sources.get(name);
      if (before?.config && file.config) throw refused(`The realm ${name} is there twice`);
      const fields = { ...before?.fields, ...file.fields };
      sources.set(name, {
        fields,
        users: [...(before?.users ?? []), ...file.users],
        config: before?.config === true || file.config,
      });
      if (file.config && name === (from ?? realm)) {
        const source = sources.get(name);
        yield* writer.realm(fields);
        yield* writer.users(source?.users ?? []);
        if (source) source.users = [];
      }
      file = fresh();
      continue;
    }
    const { key, index, text } = slice;
    if (key !== 'users') {
      file.config ||= !OF_USERS.has(key);
      keep(file.fields, slice);
    } else if (text !== undefined) {
      if (index === undefined) throw refused('users must be a list');
      if (writer.began() && name === (from ?? realm)) yield* writer.users([text]);
      else {
        held += text.length;
        if (held > MOST_HELD)
          throw new Problem(
            'too-large',
            `More than ${MOST_HELD} bytes of users come before their realm: send the realm’s file first, then those of its users (kc.sh export --users different_files)`,
          );
        file.users.push(text);
      }
    }
  }
  if (!writer.began()) {
    const source = chosen(sources, from ?? realm, from !== undefined);
    if (source.config) yield* writer.realm(source.fields);
    else writer.fit(await target.stored());
    yield* writer.users(source.users);
  }
  for (const [name, { config }] of sources)
    if (config && sources.size > 1 && !writer.is(name))
      notes.add({ kind: 'realm', key: name }, 'is another realm: import it by itself');
  yield* writer.end();
}

const fresh = (): Source => ({ fields: {}, users: [], config: false });
const nameOf = ({ fields: { realm } }: Source): string => (typeof realm === 'string' ? realm : '');
const refused = (message: string) => new Problem('invalid-request', message, { errors: [{ path: '', message }] });

function keep(
  fields: Record<string, unknown>,
  { key, index, text }: { key: string; index: number | undefined; text: string | undefined },
): void {
  // People's data in a directory: only that there is some matters.
  if (key === 'federatedUsers') {
    fields[key] = text === undefined ? [] : ['***'];
    return;
  }
  const value = text === undefined ? undefined : parseJson(text, index === undefined ? key : `${key}[${index}]`);
  if (index === undefined) fields[key] = text === undefined ? [] : value;
  else {
    const list = fields[key];
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

/** The document's text: the realm's sections, then its users, then whom service accounts were. */
function createWriter({ realm, parts, notes }: Target) {
  let told: TranslatedRealm | undefined;
  let name = '';
  let before = '{';
  let users = 0;
  const breathe = createPace();
  const accounts: { clientId: string }[] = [];
  const text = (piece: string) => Buffer.from(piece);
  /** Members of organizations among the users of these files; others may be anywhere. */
  const people = new Set<string>();
  let members: ReadonlySet<string> = new Set();
  const isMember = (username: string) => members.has(username.toLowerCase());
  const membersOf = (organization: unknown) => strings(Object(organization).members);
  const withMembers = (organizations: unknown): unknown[] | undefined =>
    Array.isArray(organizations)
      ? organizations.map((organization) => {
          const { members: all, ...rest } = organization;
          const there = strings(all).filter((username) => people.has(username.toLowerCase()));
          if (there.length < strings(all).length)
            notes.add(
              { kind: 'organization', key: String(rest.name), field: 'members' },
              'some are not in these files: import their files with the realm’s, or add them by hand',
            );
          return there.length === 0 ? rest : { ...rest, members: there };
        })
      : undefined;
  let profile: UserProfile | undefined;
  let issuers: ReadonlyMap<string, string | undefined> = new Map();
  const around = (): Surroundings => ({
    known: told?.known ?? everyClient,
    there: told?.there,
    issuers: told?.issuers ?? issuers,
    profile,
    notes,
  });
  return {
    began: () => told !== undefined,
    is: (other: string) => other === name,
    fit(to: Stored): void {
      ({ profile, issuers } = to);
    },
    async *realm(fields: Record<string, unknown>) {
      name = String(fields.realm ?? '');
      told = await documentOf(fields, { realm, parts, notes });
      profile = told.profile;
      const organizations = told.sections.get('organizations');
      const named = Array.isArray(organizations) ? organizations.flatMap(membersOf) : [];
      members = new Set(named.map((username) => username.toLowerCase()));
      for (const [section, value] of told.sections) {
        if (section === 'organizations') continue;
        yield text(`${before}${JSON.stringify(section)}:${JSON.stringify(value)}`);
        before = ',';
      }
    },
    async *users(list: readonly string[]) {
      for (const one of list) {
        await breathe();
        const path = `users[${users}]`;
        const { user, account } = userOf(parseJson(one, path), around(), path) ?? {};
        if (account) accounts.push(account);
        if (!user) continue;
        if (isMember(user.username)) people.add(user.username.toLowerCase());
        yield text(`${users === 0 ? `${before}"users":[` : ','}${JSON.stringify(user)}`);
        users += 1;
      }
    },
    *end() {
      if (users > 0) {
        yield text(']');
        before = ',';
      }
      const organizations = withMembers(told?.sections.get('organizations'));
      if (organizations) {
        yield text(`${before}"organizations":${JSON.stringify(organizations)}`);
        before = ',';
      }
      const [first] = accounts;
      if (first) {
        yield text(`${before}"serviceAccountRoles":${JSON.stringify(accounts)}`);
        before = ',';
      }
      yield text(before === '{' ? '{}' : '}');
    },
  };
}

/** Of people whose realm isn't in the files: Keycloak's own clients alone are known not to be here. */
const everyClient = (clientId: string): boolean =>
  !/^(account|account-console|admin-cli|broker|realm-management|security-admin-console)$/.test(clientId);
