// Owns: applications as administrators keep them: which clients one is made of, who may use it, the flow that signs in to it.
// Does not own: refusing who may not use it (features/authorize), what a client's view holds of it (features/clients/view.ts).
// Implements: specification 2.10, 4.10; decisions "Application".
import { ADMIN_CLI } from '../../contract/admin-access.ts';
import { Application, applicationRoutes } from '../../contract/applications.ts';
import type { FieldError } from '../../contract/problem.ts';
import { fragment, type Sql } from '../../db/sql.ts';
import { asSet, join, strings } from '../../http/document.ts';
import type { Saved, Wanted } from '../../resource/part.ts';
import { type Resource, resource } from '../../resource/resource.ts';

const KIND = 'application';
const LISTS = ['clients', 'samlClients', 'roles'] as const;

const CLIENTS = ['clients', 'samlClients'] as const;

/** A client of two would have two flows, and two lists of who may use it. */
async function sharedClients(sql: Sql, realm: string, changes: readonly Wanted[]): Promise<FieldError[]> {
  const changed = changes.filter(({ kind }) => kind === KIND);
  const claimed = changed
    .filter(({ action }) => action !== 'delete')
    .flatMap(({ key, fields, path }) =>
      CLIENTS.flatMap((field) =>
        strings(fields[field]).map((client) => ({ key, field, client, path: join(path, field) })),
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

/** What an application has several of: each in a table of its own, by name. */
const LINKS = [
  {
    field: 'clients',
    table: fragment`application_client`,
    column: fragment`client`,
    named: fragment`client n on n.realm_id = x.realm_id and n.client_id = x.name`,
  },
  {
    field: 'roles',
    table: fragment`application_role`,
    column: fragment`role_id`,
    named: fragment`role n on n.realm_id = x.realm_id and n.client is null and n.name = x.name`,
  },
];

async function link(sql: Sql, realm: string, saved: readonly Saved[]): Promise<void> {
  for (const { field, table, column, named } of LINKS) {
    const changed = saved.filter((one) => one.changed.includes(field));
    if (changed.length === 0) continue;
    const pairs = changed.flatMap(({ key, fields }) =>
      strings(fields[field]).map((name) => ({ realm_id: realm, application: key, name })),
    );
    await sql`
      delete from ${table} l using application a
      where a.realm_id = ${realm} and a.name = any(${changed.map(({ key }) => key)}::text[])
        and l.realm_id = a.realm_id and l.application_id = a.id`;
    await sql`
      insert into ${table} (realm_id, ${column}, application_id) select x.realm_id, n.id, a.id
      from jsonb_to_recordset(${JSON.stringify(pairs)}::jsonb) as x (realm_id text, application text, name text)
      join application a on a.realm_id = x.realm_id and a.name = x.application join ${named}`;
  }
}

export const createApplicationResource = ({ now }: { now: () => Date }): Resource =>
  resource(
    {
      section: 'applications',
      wire: Application,
      routes: applicationRoutes,
      table: {
        name: 'application',
        columns: {
          displayName: 'text',
          description: 'text',
          url: 'text',
          iconUrl: 'text',
          samlClients: 'text[]',
          flowOverride: 'text',
          visible: 'boolean',
          enabled: 'boolean',
        },
        elsewhere: {
          clients: fragment`array(select c.client_id from application_client ac
            join client c on c.realm_id = ac.realm_id and c.id = ac.client
            where ac.realm_id = t.realm_id and ac.application_id = t.id order by c.client_id collate "C")`,
          roles: fragment`array(select r.name from application_role ar
            join role r on r.realm_id = ar.realm_id and r.id = ar.role_id
            where ar.realm_id = t.realm_id and ar.application_id = t.id order by r.name collate "C")`,
        },
      },
      fresh: () => ({
        displayName: null,
        description: null,
        url: null,
        iconUrl: null,
        clients: [],
        samlClients: [],
        flowOverride: null,
        roles: [],
        visible: true,
        enabled: true,
      }),
      canonical: (fields) => ({
        ...fields,
        ...Object.fromEntries(
          LISTS.flatMap((of) => (fields[of] === undefined ? [] : [[of, asSet(strings(fields[of]))]])),
        ),
      }),
      search: ['name', 'displayName'],
      references: ({ fields }) => [
        ...strings(fields.clients).map((key) => ({ kind: 'client', key, path: 'clients' })),
        ...strings(fields.samlClients).map((key) => ({ kind: 'samlClient', key, path: 'samlClients' })),
        ...strings(fields.roles).map((key) => ({ kind: 'role', key, path: 'roles' })),
        ...strings([fields.flowOverride]).map((key) => ({ kind: 'flow', key, path: 'flowOverride' })),
      ],
      check: ({ fields }) =>
        strings(fields.clients).includes(ADMIN_CLI)
          ? [{ path: 'clients', message: `${ADMIN_CLI} signs administrators in, and belongs to no application` }]
          : [],
      whole: sharedClients,
      // A client can go from one to another: nothing refers to them.
      atOnce: true,
      link,
      // It says who signs in to its clients, and how.
      actsAs: ({ before, save }) => [...strings(before?.clients), ...strings(save.clients)],
      detail: ({ clients, roles, enabled }) => ({ clients, roles, enabled }),
    },
    { now },
  );
