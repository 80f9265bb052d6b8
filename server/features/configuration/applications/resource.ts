// Owns: applications: their clients, the roles that permit their use, the flow by which users sign in to them.
// Does not own: refusing users without these roles (features/protocol/authorize), a client's view of it (clients/view.ts).
// Implements: specification 2.10, 4.10; decisions "Application".
import { ADMIN_CLI } from '../../../contract/admin-access.ts';
import { applications } from '../../../contract/applications.ts';
import type { FieldError } from '../../../contract/problem.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { joinPaths, strings } from '../../../resource/items.ts';
import { writeLinks } from '../../../resource/links.ts';
import type { Wanted } from '../../../resource/part.ts';

const KIND = 'application';
const CLIENTS = ['clients', 'samlClients'] as const;

/** Faults of clients that belong to two applications: such a client would have two flows and two lists of roles. */
async function sharedClients(sql: Sql, realm: string, changes: readonly Wanted[]): Promise<FieldError[]> {
  const changed = changes.filter(({ kind }) => kind === KIND);
  const claimed = changed
    .filter(({ action }) => action !== 'delete')
    .flatMap(({ key, fields, path }) =>
      CLIENTS.flatMap((field) =>
        strings(fields[field]).map((client) => ({ key, field, client, path: joinPaths(path, field) })),
      ),
    );
  if (claimed.length === 0) return [];
  const named = (of: string) => claimed.flatMap(({ field, client }) => (field === of ? [client] : []));
  const others = await sql<{ application: string; field: string; client: string }>`
    select a.name as application, 'clients' as field, c.client_id as client from client c
    join application_client ac on ac.realm_id = c.realm_id and ac.client = c.id
    join application a on a.realm_id = ac.realm_id and a.id = ac.application_id
    where c.realm_id = ${realm} and c.client_id = any(${named('clients')}::text[])
      and a.id <> all(${changed.flatMap((c) => c.id ?? [])}::uuid[])
    union all
    select a.name, 'samlClients', n.entity from application a cross join lateral unnest(a.saml_clients) as n (entity)
    where a.realm_id = ${realm} and n.entity = any(${named('samlClients')}::text[])
      and a.id <> all(${changed.flatMap((c) => c.id ?? [])}::uuid[])`;
  const keyOf = ({ field, client }: { field: string; client: string }) => `${field} ${client}`;
  const owners = new Map(others.map((row) => [keyOf(row), row.application]));
  return claimed.flatMap((one) => {
    const owner = owners.get(keyOf(one));
    owners.set(keyOf(one), owner ?? one.key);
    const message = `${one.client} belongs to the application ${owner} already`;
    return owner === undefined ? [] : [{ path: one.path, message }];
  });
}

const ties = { table: 'application', key: 'name' };
const LINKS = [
  {
    field: 'clients',
    table: 'application_client',
    owner: 'application_id',
    member: 'client',
    names: { table: 'client', key: 'client_id' },
  },
  {
    field: 'roles',
    table: 'application_role',
    owner: 'application_id',
    member: 'role_id',
    names: { table: 'role', key: 'name', only: 'n.client is null' },
  },
];

export const applicationsResource = (deps: ResourceDeps) =>
  declaredResource(
    applications,
    {
      table: {
        elsewhere: {
          clients: fragment`array(select c.client_id from application_client ac
            join client c on c.realm_id = ac.realm_id and c.id = ac.client
            where ac.realm_id = t.realm_id and ac.application_id = t.id order by c.client_id collate "C")`,
          roles: fragment`array(select r.name from application_role ar
            join role r on r.realm_id = ar.realm_id and r.id = ar.role_id
            where ar.realm_id = t.realm_id and ar.application_id = t.id order by r.name collate "C")`,
        },
      },
      check: ({ fields }) =>
        strings(fields.clients).includes(ADMIN_CLI)
          ? [{ path: 'clients', message: `${ADMIN_CLI} signs administrators in, and belongs to no application` }]
          : [],
      whole: sharedClients,
      // Two applications can exchange clients in one document, because nothing refers to this link.
      atOnce: true,
      link: (sql, realm, saved) => writeLinks(sql, realm, ties, LINKS, saved),
      // An application decides which users sign in to its clients, and how.
      actsAs: ({ before, save }) => [...strings(before?.clients), ...strings(save.clients)],
      detail: ({ clients, roles, enabled }) => ({ clients, roles, enabled }),
    },
    deps,
  );
