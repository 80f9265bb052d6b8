// The realm document's `users`, in bulk: staged by COPY as they arrive, planned and merged by set-based statements,
// exported by COPY. Users never fit in memory, so the statements compare them. Specification 2.10; decisions "Import,
// export, plan".
import type { Readable } from 'node:stream';
import type { FieldError } from '../../../contract/problem.ts';
import type { UserDocument } from '../../../contract/users.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { copyInto, copyOut, literal, pgArray, rowsInto, startCopyOut } from '../../../db/bulk.ts';
import type { Value } from '../../../db/copy.ts';
import { stagingTable } from '../../../db/staging.ts';
import { type BulkInsert, createBulkInsert } from './bulk-insert.ts';
import { createTies, type Declares, readUser } from './document-user.ts';
import type { UserSink } from './user-sink.ts';

const COLUMNS =
  '(realm_id, import_id, n, id, username, email, email_verified, first_name, last_name, enabled, attributes, ' +
  'required_actions, roles, groups, client_roles, credentials, identities, created_at, older_than_profile, declared, action, changes)';

/** The most errors of one row. */
const MOST_ERRORS = 100;
const LONGEST_WORDS = 1000;
/** A path contains field names of the row, which can be any text. PostgreSQL stores no NUL. */
const cut = (text: string): string => {
  const short = text.length > LONGEST_WORDS ? `${text.slice(0, LONGEST_WORDS)}…` : text;
  return short.toWellFormed().replaceAll('\0', '\uFFFD');
};
const storable = ({ path, message }: FieldError): FieldError => ({ path: cut(path), message: cut(message) });

/** The users of one document while they are staged. */
export interface Stage extends UserSink {
  importId: string;
  declares: Declares;
  /** The number of rows that were added or refused. */
  count(): number;
  /** Stages the errors of a row that can't be parsed. */
  refuse(n: number, errors: readonly FieldError[]): void;
  /** Whether the rows carry a plan already. */
  planned: boolean;
  finish(): Promise<void>;
  abort(): Promise<void>;
}

export interface UserTransferDeps {
  databaseUrl: string;
  seal: Seal;
  newId: () => string;
}

export function createUserTransfer({ databaseUrl, seal, newId }: UserTransferDeps) {
  function stage(realm: string): Stage {
    const importId = newId();
    const ties = createTies({ seal, newId, realm });
    const rows = rowsInto(() => copyInto(databaseUrl, `${stagingTable(realm, importId)} ${COLUMNS}`));
    let count = 0;
    // Users mostly declare the same fields as the user before.
    let fields: string[] = [];
    let declared = pgArray(fields);
    function fieldsOf(user: UserDocument): string {
      const found = Object.keys(user);
      if (found.length !== fields.length || found.some((field, i) => field !== fields[i])) {
        fields = found;
        declared = pgArray(fields.filter((field) => field !== 'username' && field !== 'id'));
      }
      return declared;
    }

    function rowOf(user: UserDocument, n: number): Value[] {
      const { roles, groups, clientRoles, credentials, identities } = ties.of(user);
      return [
        realm,
        importId,
        n,
        user.id ?? newId(),
        user.username,
        user.email,
        user.emailVerified,
        user.firstName,
        user.lastName,
        user.enabled,
        user.attributes && JSON.stringify(user.attributes),
        user.requiredActions && pgArray(user.requiredActions),
        roles && pgArray(roles),
        groups && pgArray(groups),
        clientRoles && pgArray(clientRoles),
        credentials && JSON.stringify(credentials),
        identities && JSON.stringify(identities),
        user.createdAt === undefined ? null : new Date(user.createdAt).toISOString(),
        user.olderThanProfile && pgArray(user.olderThanProfile),
        fieldsOf(user),
        'create',
        null,
      ];
    }
    const unknown = Array.from({ length: 14 }, () => null);
    const unreadable = (n: number, errors: readonly FieldError[]): Value[] => [
      ...[realm, importId, n, newId(), '', ...unknown],
      ...['{}', 'unreadable', JSON.stringify(errors.slice(0, MOST_ERRORS).map(storable))],
    ];
    return {
      importId,
      declares: ties.declares,
      planned: false,
      count: () => count,
      begin: async () => {},
      add(value, path, n) {
        const { user, errors } = readUser(value, path);
        if (errors) return errors;
        rows.add(rowOf(user, n));
        count += 1;
        return [];
      },
      refuse(n, errors) {
        rows.add(unreadable(n, errors));
        count += 1;
      },
      flush: rows.flush,
      finish: rows.finish,
      abort: rows.abort,
    };
  }

  return {
    stage,
    bulkInsert: (realm: string): BulkInsert => createBulkInsert({ databaseUrl, seal, newId, realm }),
    /** The import's action for each user, in the document's order: one JSON object per line, each after a comma. */
    changes: (realm: string, importId: string): Promise<Readable> =>
      copyOut(
        databaseUrl,
        `select concat(',{"action":"', action, '","kind":"user","key":', to_json(username), ',"fields":', coalesce(changes, '[]'), '}')
         from ${stagingTable(realm, importId)} where realm_id = ${literal(realm)} and action in ('create', 'update', 'delete') order by n < 0, n`,
      ),
    /** Every user in the document's form, ordered by username: one JSON object per line, each preceded by a comma. */
    startRows: (realm: string, snapshot: string) => startCopyOut(databaseUrl, exportQuery(realm), snapshot),
  };
}
export type UserTransfer = ReturnType<typeof createUserTransfer>;

const bool = (column: string) => `case when ${column} then 'true' else 'false' end`;

/**
 * Names are sorted by their bytes, so that an export has the same bytes on every server; attributes keep jsonb's order, by
 * length, then bytes. Roles and groups are collected once for the realm, not for each user. The objects are built as text,
 * because json_build_object resolves the types of its arguments again for each row.
 */
function exportQuery(realm: string): string {
  const r = literal(realm);
  return `with held as (
    select ur.user_id, json_agg(r.name order by r.name collate "C") as names from user_role ur
    join role r on r.realm_id = ur.realm_id and r.id = ur.role_id and r.client is null
    where ur.realm_id = ${r} group by ur.user_id
  ), at_clients as (
    select user_id, json_object_agg(client_id, names order by client_id collate "C") as map from (
      select ur.user_id, c.client_id, json_agg(r.name order by r.name collate "C") as names from user_role ur
      join role r on r.realm_id = ur.realm_id and r.id = ur.role_id
      join client c on c.realm_id = r.realm_id and c.id = r.client
      where ur.realm_id = ${r} group by ur.user_id, c.client_id) x
    group by user_id
  ), member as (
    select m.user_id, json_agg(g.path order by g.path collate "C") as paths from group_member m
    join user_group g on g.realm_id = m.realm_id and g.id = m.group_id
    where m.realm_id = ${r} group by m.user_id
  )
  select concat(',{"attributes":', u.attributes, ',"clientRoles":', coalesce(at_clients.map, '{}'),
    ',"createdAt":', floor(extract(epoch from u.created_at) * 1000)::bigint,
    ',"email":', coalesce(to_json(u.email), 'null'), ',"emailVerified":', ${bool('u.email_verified')},
    ',"enabled":', ${bool('u.enabled')}, ',"firstName":', coalesce(to_json(u.first_name), 'null'),
    ',"groups":', coalesce(member.paths, '[]'), ',"lastName":', coalesce(to_json(u.last_name), 'null'),
    ',"requiredActions":', case when u.required_actions = '{}' then '[]' else
      (select json_agg(a order by a collate "C")::text from unnest(u.required_actions) a) end,
    ',"roles":', coalesce(held.names, '[]'), ',"username":', to_json(u.username), '}')
  from realm_user u left join held on held.user_id = u.id left join at_clients on at_clients.user_id = u.id
    left join member on member.user_id = u.id
  where u.realm_id = ${r} order by u.username collate "C"`;
}
