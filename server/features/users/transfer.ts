// The realm document's `users`, in bulk: staged by COPY while they arrive, planned and merged by set-based statements,
// exported by COPY. Comparing stays within these statements, as users never fit a plan in memory. Specification 2.10;
// decisions "Import, export, plan".
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { FieldError } from '../../contract/problem.ts';
import { type CredentialDocument, UserDocument } from '../../contract/users.ts';
import { sealOtp } from '../../crypto/otp.ts';
import { usablePhc } from '../../crypto/phc.ts';
import type { Seal } from '../../crypto/seal.ts';
import { type CopyIn, copyInto, copyOut, copyRow, literal, pgArray } from '../../db/bulk.ts';
import { clientRoleKey, issuesAt } from '../../http/document.ts';
import type { UserSink } from '../transfer/document.ts';
import { isPlainUser } from './plain-user.ts';

const COLUMNS =
  'import_user (import_id, n, id, username, email, email_verified, first_name, last_name, enabled, attributes, ' +
  'required_actions, roles, groups, client_roles, credentials, created_at, declared, action)';
const FLUSH_CHARS = 256 * 1024;
const LATEST = Date.UTC(9999, 11, 31);

/** Users of one document on their way in. */
export interface Stage extends UserSink {
  importId: string;
  /** Which kinds of ties any of them declares. */
  declares: { roles: boolean; groups: boolean; clientRoles: boolean; credentials: boolean };
  count(): number;
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
    const declares = { roles: false, groups: false, clientRoles: false, credentials: false };
    let copy: CopyIn | undefined;
    let buffer = '';
    let count = 0;
    // Mostly what the user before declared.
    let fields: string[] = [];
    let declared = pgArray(fields);
    function fieldsOf(user: UserDocument): string {
      const found = Object.keys(user);
      if (found.length !== fields.length || found.some((field, i) => field !== fields[i])) {
        fields = found;
        declared = pgArray(fields.filter((field) => field !== 'username'));
      }
      return declared;
    }

    function rowOf(user: UserDocument, n: number): string {
      const { username, roles, groups, clientRoles, credentials } = user;
      declares.roles ||= roles !== undefined;
      declares.groups ||= groups !== undefined;
      declares.clientRoles ||= clientRoles !== undefined;
      declares.credentials ||= credentials !== undefined;
      const keys =
        clientRoles &&
        Object.entries(clientRoles).flatMap(([id, names]) => names.map((role) => clientRoleKey(id, role)));
      return copyRow([
        importId,
        n,
        newId(),
        username,
        user.email,
        user.emailVerified,
        user.firstName,
        user.lastName,
        user.enabled,
        user.attributes && JSON.stringify(user.attributes),
        user.requiredActions && pgArray(user.requiredActions),
        roles && pgArray(roles),
        groups && pgArray(groups),
        keys && pgArray(keys),
        credentials && JSON.stringify(credentials.map((c) => credentialRow(realm, c))),
        user.createdAt === undefined ? null : new Date(user.createdAt).toISOString(),
        fieldsOf(user),
        'create',
      ]);
    }
    function keep(user: UserDocument, n: number): void {
      buffer += rowOf(user, n);
      count += 1;
    }
    return {
      importId,
      declares,
      planned: false,
      count: () => count,
      async begin() {
        copy = await copyInto(databaseUrl, COLUMNS);
      },
      add(value, path, n) {
        if (isPlainUser(value)) {
          keep(value, n);
          return [];
        }
        const parsed = UserDocument.safeParse(value);
        if (!parsed.success) return issuesAt(path, parsed.error);
        const { createdAt } = parsed.data;
        if (createdAt !== undefined && (createdAt < 0 || createdAt > LATEST))
          return [{ path: `${path}.createdAt`, message: 'must be epoch milliseconds of a year up to 9999' }];
        const faults = (parsed.data.credentials ?? []).flatMap((c, i) =>
          credentialFaults(c, `${path}.credentials[${i}]`),
        );
        if (faults.length > 0) return faults;
        keep(parsed.data, n);
        return [];
      },
      async flush() {
        if (buffer.length < FLUSH_CHARS) return;
        const text = buffer;
        buffer = '';
        await copy?.write(text);
      },
      async finish() {
        if (buffer !== '') await copy?.write(buffer);
        buffer = '';
        await copy?.finish();
        copy = undefined;
      },
      async abort() {
        await copy?.abort();
        copy = undefined;
      },
    };
  }

  /** As features/credentials stores them; an OTP secret is sealed for its row. */
  function credentialRow(realm: string, c: CredentialDocument) {
    const id = newId();
    const secret =
      c.type === 'password'
        ? { phc: c.phc, temporary: c.temporary ?? false }
        : {
            sealed: sealOtp(seal, realm, id, c.secret ?? ''),
            algorithm: c.algorithm ?? 'SHA1',
            digits: c.digits ?? 6,
            period: c.period ?? 30,
          };
    return { id, type: c.type, label: c.label ?? null, secret };
  }

  return {
    stage,
    /** What happens to each user, in the document's order: one JSON object a line, behind a comma. */
    changes: (importId: string): Promise<Readable> =>
      copyOut(
        databaseUrl,
        `select concat(',{"action":"', action, '","kind":"user","key":', to_json(username), ',"fields":', coalesce(changes, '[]'), '}')
         from import_user where import_id = ${literal(importId)} and action in ('create', 'update', 'delete') order by n < 0, n`,
      ),
    /** Every user as the document has it, by username: one JSON object a line, behind a comma. */
    rows: (realm: string, snapshot: string): Promise<Readable> => copyOut(databaseUrl, exportQuery(realm), snapshot),
  };
}
export type UserTransfer = ReturnType<typeof createUserTransfer>;

function credentialFaults(c: z.output<typeof CredentialDocument>, path: string): FieldError[] {
  if (c.type === 'password')
    return c.phc !== undefined && usablePhc(c.phc)
      ? []
      : [{ path: `${path}.phc`, message: 'must be a PHC string of argon2, scrypt or pbkdf2' }];
  return c.secret === undefined ? [{ path: `${path}.secret`, message: 'is needed for type otp' }] : [];
}

const bool = (column: string) => `case when ${column} then 'true' else 'false' end`;

/**
 * Names sorted by their bytes, so that an export has the same bytes on every server (attributes in jsonb's own order:
 * by length, then bytes). Ties are gathered once for the realm, not asked for user by user. Put together
 * as text, as json_build_object looks every argument's type up again for every row.
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
