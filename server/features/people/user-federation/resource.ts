// Owns: directories as administrators configure them.
// Does not own: their fields and routes (contract/user-federation.ts), asking them (connection.ts), sealing the password (resource/at-rest.ts).
// Implements: decisions "User federation"; specification 4.2.

import { loopbackHosts } from '../../../contract/names.ts';
import type { FieldError } from '../../../contract/problem.ts';
import { userFederation } from '../../../contract/user-federation.ts';
import { fragment } from '../../../db/sql.ts';
import { endAccess } from '../../../domain/end-access.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { strings } from '../../../resource/items.ts';
import type { Fields } from '../../../resource/part.ts';
import { forgetLastPasswords } from './last-passwords.ts';

/** The attributes of an entry that are read by default. */
const usualAttributes = { username: 'uid', email: 'mail', firstName: 'givenName', lastName: 'sn' } as const;

/** Writes all defaults out, so that equal directories are stored alike. */
const canonical = ({ connection, users, groups, ...fields }: Fields): Fields => ({
  ...fields,
  ...(connection !== undefined && {
    connection: { startTls: false, caCertificate: null, bindDn: null, ...Object(connection) },
  }),
  ...(users !== undefined && {
    users: {
      filter: '(objectClass=person)',
      scope: 'sub',
      attributes: { ...usualAttributes },
      uuidAttribute: 'entryUUID',
      trustEmail: false,
      ...Object(users),
    },
  }),
  ...(groups !== undefined && {
    groups: groups && {
      filter: '(objectClass=groupOfNames)',
      nameAttribute: 'cn',
      memberAttribute: 'member',
      nested: false,
      below: null,
      ...Object(groups),
    },
  }),
});

/** RFC 4515: parentheses come in pairs, each around something; a parenthesis in a value is written `\28`. */
function isFilter(filter: string): boolean {
  let depth = 0;
  for (const [i, sign] of [...filter].entries()) {
    if (sign === '(') depth += 1;
    else if (sign === ')') depth -= 1;
    if (depth < 0 || (depth === 0 && i < filter.length - 1)) return false;
  }
  return (
    depth === 0 && !filter.includes('()') && /^\((?:[&|!]\(|[A-Za-z0-9.;-]+(?::[A-Za-z0-9.:-]*)?[~<>:]?=)/.test(filter)
  );
}

/** A sync more often than this loads the directory more than it is worth. */
const LEAST_SECONDS = 60;

function faults({ connection, users, groups, schedule }: Fields): FieldError[] {
  const { urls, startTls } = Object(connection);
  const open = strings(urls).flatMap((url, i) =>
    url.startsWith('ldap:') && startTls !== true && !loopbackHosts.has(new URL(url).hostname)
      ? [{ path: `connection.urls[${i}]`, message: 'would send passwords in the clear; use ldaps or startTls' }]
      : [],
  );
  const filters = [
    ['users.filter', Object(users).filter],
    ['groups.filter', Object(groups ?? {}).filter],
  ].flatMap(([path, filter]) =>
    typeof filter === 'string' && !isFilter(filter) ? [{ path: String(path), message: 'is no filter (RFC 4515)' }] : [],
  );
  const nameless =
    typeof Object(Object(users).attributes).username === 'string'
      ? []
      : [{ path: 'users.attributes', message: 'must map username to an attribute of the entry' }];
  const often =
    typeof schedule === 'number' && schedule > 0 && schedule < LEAST_SECONDS
      ? [{ path: 'schedule', message: `must be 0, or at least ${LEAST_SECONDS}` }]
      : [];
  return [...open, ...filters, ...nameless, ...often];
}

export const userFederationResource = (deps: ResourceDeps) =>
  declaredResource(
    userFederation,
    {
      canonical,
      // Users are linked to the directory.
      keyStays: 'make another directory instead',
      check: ({ fields }) => faults(fields),
      sentTo: ({ fields: { connection } }) => {
        const { urls, startTls, caCertificate } = Object(connection);
        return { 'connection.urls': urls, 'connection.startTls': startTls, 'connection.caCertificate': caCertificate };
      },
      // Changing which directory this is, or enabling it, decides who can sign in as its users, so it needs their
      // permissions.
      signsInAs(changes, realm) {
        const ids = changes
          .filter(({ fields }) =>
            fields.some(
              ({ path, to }) =>
                /^(connection|users|groups|secret|away|awaySeconds)\b/.test(path) ||
                (path === 'enabled' && to === true),
            ),
          )
          .flatMap(({ id }) => id ?? []);
        return ids.length === 0
          ? undefined
          : fragment`select user_id from directory_person where realm_id = ${realm} and directory_id = any(${ids}::uuid[])`;
      },
      async onChange(tx, realm, changes, by) {
        const strict = changes.flatMap(({ id, fields }) => (id !== undefined && fields.away === 'refuse' ? [id] : []));
        if (strict.length > 0) await forgetLastPasswords(tx.sql, realm, strict);
        const gone = changes.flatMap(({ action, id }) => (action === 'delete' && id !== undefined ? [id] : []));
        if (gone.length === 0) return;
        const people = fragment`select user_id from credential
          where realm_id = ${realm} and type = 'password' and secret ? 'directory' and secret ->> 'directory' = any(${gone}::text[])`;
        await endAccess(tx, realm, { people, cause: 'credential-removed', by, at: deps.now() });
      },
      detail: ({ type, enabled, mode }) => ({ type, enabled, mode }),
    },
    deps,
  );
