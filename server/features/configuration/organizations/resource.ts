// The organization as a resource: the same by the admin API and in the realm document. Specification 2.10, 4.10;
// decisions "Organization". Members are users' data: service.ts has them, and documents have them with users.
import { organizations } from '../../../contract/organizations.ts';
import { Problem } from '../../../contract/problem.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import { administratorsIn } from '../../../domain/at-home.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { asSet, joinPaths, strings, topField } from '../../../resource/items.ts';
import type { Fields, PlannedChange, Saved, Wanted } from '../../../resource/part.ts';

const KIND = 'organization';

interface Domain {
  name: string;
  verified: boolean;
}
const domainsOf = ({ domains }: Fields): Domain[] =>
  (Array.isArray(domains) ? domains : [])
    .map(({ name, verified = false }) => ({ name, verified }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

/** @throws Problem `name-taken` if another organization has one of these verified domains */
async function refuseSharedDomains(sql: Sql, realm: string, changes: readonly Wanted[]): Promise<[]> {
  const changed = changes.filter(({ kind }) => kind === KIND);
  const saved = changed.filter(({ action }) => action !== 'delete');
  const verified = saved.flatMap(({ key, fields, path }) =>
    domainsOf(fields).flatMap(({ name, verified: own }, i) =>
      own ? [{ key, name, path: joinPaths(path, `domains[${i}]`) }] : [],
    ),
  );
  if (verified.length === 0) return [];
  const others = await sql<{ organization: string; name: string }>`
    select o.name as organization, d.name from organization_domain d
    join organization o on o.realm_id = d.realm_id and o.id = d.organization_id
    where d.realm_id = ${realm} and d.verified and o.id <> all(${changed.flatMap((c) => c.id ?? [])}::uuid[])
      and d.name = any(${verified.map((d) => d.name)}::text[])`;
  const holders = new Map(others.map((row) => [row.name, row.organization]));
  for (const { key, name, path } of verified) {
    const other = holders.get(name);
    if (other !== undefined)
      throw new Problem('name-taken', `The organization ${other} has the verified domain ${name} already`, {
        errors: [{ path, message: `${name} is ${other}'s` }],
      });
    holders.set(name, key);
  }
  return [];
}

async function linkDomains(sql: Sql, realm: string, saved: readonly Saved[]): Promise<void> {
  const changed = saved.filter(({ changed: fields }) => fields.includes('domains'));
  if (changed.length === 0) return;
  const names = changed.map(({ key }) => key);
  await sql`
    delete from organization_domain d using organization o
    where o.realm_id = ${realm} and o.name = any(${names}::text[]) and d.realm_id = o.realm_id and d.organization_id = o.id`;
  const rows = changed.flatMap(({ key, fields }) => domainsOf(fields).map((d) => ({ organization: key, ...d })));
  await sql`
    insert into organization_domain (realm_id, organization_id, name, verified)
    select ${realm}, o.id, x.name, x.verified
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (organization text, name text, verified boolean)
    join organization o on o.realm_id = ${realm} and o.name = x.organization`;
}

async function linkMembers(sql: Sql, realm: string, saved: readonly Saved[], at: Date): Promise<void> {
  const rows = saved
    .filter(({ changed }) => changed.includes('members'))
    .map(({ key, fields }) => ({ organization: key, members: strings(fields.members) }));
  if (rows.length === 0) return;
  await sql`
    with declared as (
      select o.id, x.members from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (organization text, members text[])
      join organization o on o.realm_id = ${realm} and o.name = x.organization
    ), wanted as (
      select d.id as organization_id, u.id as user_id from declared d cross join lateral unnest(d.members) as n (name)
      join realm_user u on u.realm_id = ${realm} and lower(u.username) = lower(n.name)
    ), dropped as (
      delete from organization_member m using declared d where m.realm_id = ${realm} and m.organization_id = d.id
        and not exists (select from wanted w where w.organization_id = m.organization_id and w.user_id = m.user_id)
    )
    insert into organization_member (realm_id, organization_id, user_id, joined_at)
    select ${realm}, organization_id, user_id, ${at}::timestamptz from wanted on conflict do nothing`;
}

/** The domains whose users the organization redirects to its identity providers, if the change affects that. */
const sentElsewhere = ({ action, fields, save }: PlannedChange): string[] =>
  action !== 'delete' &&
  save.enabled === true &&
  strings(save.identityProviders).length > 0 &&
  fields.some(({ path }) => ['domains', 'identityProviders', 'enabled'].includes(topField(path)))
    ? domainsOf(save).flatMap(({ name, verified }) => (verified ? [name] : []))
    : [];

export const organizationsResource = (deps: ResourceDeps) =>
  declaredResource(
    organizations,
    {
      table: {
        elsewhere: {
          domains: fragment`(select coalesce(jsonb_agg(jsonb_build_object('name', d.name, 'verified', d.verified)
            order by d.name collate "C"), '[]') from organization_domain d
            where d.realm_id = t.realm_id and d.organization_id = t.id)`,
        },
        inDocument: {
          members: {
            // In the order of the index: where one organization has nearly all members, the planner expects as many of each, and
            // would read them all for each organization.
            of: fragment`array(select (select u.username from realm_user u where u.realm_id = m.realm_id and u.id = m.user_id)
              from organization_member m where m.realm_id = t.realm_id and m.organization_id = t.id order by m.user_id)`,
            fromRow: (names) => asSet(strings(names)),
          },
        },
      },
      canonical: ({ members, ...fields }) => ({
        ...fields,
        ...(fields.domains !== undefined && { domains: domainsOf(fields) }),
        ...(members !== undefined && { members: asSet(strings(members)) }),
      }),
      whole: refuseSharedDomains,
      signsInAs(changes, realm) {
        const domains = changes.flatMap(sentElsewhere);
        return domains.length === 0 ? undefined : administratorsIn(realm, domains);
      },
      // Two organizations can exchange verified domains in one document, because nothing refers to them.
      atOnce: true,
      link: linkDomains,
      linkPeople: (sql, realm, saved) => linkMembers(sql, realm, saved, deps.now()),
      detail: ({ enabled, domains }) => ({ enabled, domains }),
    },
    deps,
  );
