// SQL of users for SCIM: the columns for filters and sorting, and the rows. The users feature writes users; this file
// writes the client's externalId, the type of the e-mail address and the SCIM document.
import { asciiEmail } from '../../../contract/email.ts';
import { ENTERPRISE } from '../../../contract/scim.ts';
import type { UserProfile } from '../../../contract/user-profile.ts';
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import { shownGroupPathSql } from '../../../domain/group-names.ts';
import { idOfUserNamed } from '../../../domain/user-names.ts';
import { seenByAdministrators } from '../../../domain/user-profile.ts';
import { isShort, userContains } from '../../../domain/user-search.ts';
import type { Column, Columns, Rows } from './filter-sql.ts';
import { type Attribute, placeOf, userType } from './schema.ts';
import { ADDRESSES, addressParts, PHONES, seenBy, singleAttributes } from './user-attributes.ts';
import { documentAttributes, furtherEmails, type Marked, markedParts, type ScimDocument } from './user-document.ts';

export interface ScimUserRow {
  id: string;
  username: string;
  email: string | null;
  first_name: string | null;
  last_name: string | null;
  enabled: boolean;
  attributes: Record<string, string[]>;
  created_at: Date;
  updated_at: Date;
  external_id: string | null;
  email_type: string | null;
  email_primary: boolean;
  document: ScimDocument;
  roles: string[];
  groups: { id: string; path: string }[];
}

/** A column of the user's SCIM row, as a subquery for each row: a join would read the rows of all users. */
const said = (column: Fragment): Fragment =>
  fragment`(select ${column} from scim_user s where s.realm_id = u.realm_id and s.user_id = u.id)`;
const externalId = said(fragment`s.external_id`);
const emailType = said(fragment`s.email_type`);
const document = said(fragment`s.document`);
const emailPrimary = fragment`coalesce(${said(fragment`s.email_primary`)}, true)`;

export const userSelect = fragment`
  u.id, u.username, u.email, u.first_name, u.last_name, u.enabled, u.attributes, u.created_at, u.updated_at,
  ${externalId} as external_id, ${emailType} as email_type,
  ${emailPrimary} as email_primary, coalesce(${document}, '{}') as document, array(
    select r.name from user_role ur join role r on r.realm_id = ur.realm_id and r.id = ur.role_id
    where ur.realm_id = u.realm_id and ur.user_id = u.id and r.client is null order by r.name collate "C"
  ) as roles, (
    select coalesce(jsonb_agg(jsonb_build_object('id', g.id, 'path', g.path) order by g.path collate "C"), '[]')
    from group_member m join user_group g on g.realm_id = m.realm_id and g.id = m.group_id
    where m.realm_id = u.realm_id and m.user_id = u.id
  ) as groups`;
export const userTable = fragment`realm_user u`;
export const inRealm = (realm: string): Fragment => fragment`u.realm_id = ${realm}`;
export const usersOf = (realm: string): Fragment => fragment`from ${userTable} where ${inRealm(realm)}`;

export async function findUser(sql: Sql, realm: string, id: string): Promise<ScimUserRow | undefined> {
  const [row] = await sql<ScimUserRow>`select ${userSelect} ${usersOf(realm)} and u.id = ${id}`;
  return row;
}

/** A user's SCIM data that has no field in the user itself. */
export interface ScimUserExtras {
  externalId: string | null;
  emailType: string | null;
  emailPrimary: boolean;
  document: ScimDocument;
}
export const saveUser = (sql: Sql, realm: string, id: string, said: ScimUserExtras) => sql`
  insert into scim_user (realm_id, user_id, external_id, email_type, email_primary, document, further_emails)
  values (${realm}, ${id}, ${said.externalId}, ${said.emailType}, ${said.emailPrimary},
    ${JSON.stringify(said.document)}::jsonb,
    array(select lower(e) from unnest(${furtherEmails(said.document)}::text[]) e))
  on conflict (realm_id, user_id) do update set external_id = excluded.external_id, email_type = excluded.email_type,
    email_primary = excluded.email_primary, document = excluded.document, further_emails = excluded.further_emails`;

const text = (sql: Fragment): Column => ({ sql, kind: 'text' });
const maybe = (sql: Fragment): Column => ({ sql, kind: 'text', nullable: true });
/**
 * Finds the few users of a subquery by their index. With the bare condition, PostgreSQL expects many rows and reads the
 * whole table.
 */
const among = (ids: Fragment): Fragment => fragment`u.id = any(array(${ids}))`;
const found = (column: Column): Column => ({
  ...column,
  implied: (pattern) => (isShort(pattern) ? undefined : userContains(pattern)),
});
/** The ids of users with this address of their own. */
const withAddress = (realm: string, address: string): Fragment => fragment`
  select e.id from realm_user e where e.realm_id = ${realm} and lower(e.email) = lower(${asciiEmail(address)}::text)`;

/** The first value of an attribute. */
const firstValueOf = (name: string): Column => maybe(fragment`nullif(u.attributes -> ${name}::text ->> 0, '')`);

const MANAGER_PATH = `${ENTERPRISE}:manager.value`;
const MANAGER = singleAttributes[MANAGER_PATH] ?? '';
/** The index of attributes compares case, as this attribute does alone. */
const hasManager = (realm: string, id: string): Fragment =>
  among(fragment`
    select e.id from realm_user e where e.realm_id = ${realm}
      and e.attributes @> ${JSON.stringify({ [MANAGER]: [id] })}::jsonb and e.attributes -> ${MANAGER}::text ->> 0 = ${id}`);

/** The columns that the caller may see: a filter must not reveal the others. */
export function userColumns(realm: string, profile: UserProfile): Columns {
  const seen = seenBy(profile, 'admin');
  const attributes = Object.entries(singleAttributes).flatMap(([path, name]) =>
    seen(name) ? [[path, firstValueOf(name)] as const] : [],
  );
  const email = maybe(fragment`u.email`);
  return {
    single: {
      ...Object.fromEntries(attributes),
      ...(seen(MANAGER) && { [MANAGER_PATH]: { ...firstValueOf(MANAGER), equals: (id) => hasManager(realm, id) } }),
      id: { sql: fragment`u.id`, kind: 'uuid' },
      externalId: {
        ...maybe(externalId),
        equals: (id) =>
          among(fragment`
          select s.user_id from scim_user s where s.realm_id = ${realm} and s.external_id = ${id}::text`),
      },
      userName: {
        ...found(text(fragment`u.username`)),
        equals: (name) => among(idOfUserNamed(realm, name)),
      },
      'name.givenName': found(maybe(fragment`nullif(u.first_name, '')`)),
      'name.familyName': found(maybe(fragment`nullif(u.last_name, '')`)),
      active: { sql: fragment`u.enabled`, kind: 'boolean' },
      'meta.created': { sql: fragment`u.created_at`, kind: 'dateTime' },
      'meta.lastModified': { sql: fragment`u.updated_at`, kind: 'dateTime' },
      'meta.resourceType': text(fragment`'User'::text`),
    },
    several: {
      ...Object.fromEntries(documentAttributes.map((name) => [name, [listed(name)]])),
      emails: [
        {
          some: (condition) => fragment`(u.email is not null and ${condition})`,
          columns: {
            value: {
              ...found(email),
              equals: (address) => among(withAddress(realm, address)),
            },
            type: text(fragment`coalesce(${emailType}, 'work')`),
            primary: { sql: emailPrimary, kind: 'boolean' },
            ...marksOf('emails', fragment`lower(m.value ->> 'value') = lower(u.email)`),
          },
        },
        furtherRows(realm),
      ],
      phoneNumbers: [phones(profile)],
      addresses: [addresses(profile), listed('addresses')],
      groups: [
        {
          some: (condition) => fragment`exists (
          select from group_member m join user_group g on g.realm_id = m.realm_id and g.id = m.group_id
          where m.realm_id = u.realm_id and m.user_id = u.id and ${condition})`,
          columns: {
            value: { sql: fragment`m.group_id`, kind: 'uuid' },
            display: text(fragment`substr(${shownGroupPathSql(fragment`g.path`)}, 2)`),
            type: text(fragment`'direct'::text`),
          },
        },
      ],
      roles: [
        {
          some: (condition) => fragment`exists (
          select from user_role ur join role r on r.realm_id = ur.realm_id and r.id = ur.role_id
          where ur.realm_id = u.realm_id and ur.user_id = u.id and r.client is null and ${condition})`,
          columns: { value: text(fragment`r.name`), ...marksOf('roles', fragment`m.value ->> 'value' = r.name`) },
        },
      ],
    },
    lookups: {
      'emails.value': (address) =>
        among(fragment`
          ${withAddress(realm, address)}
          union all
          select s.user_id from scim_user s
          where s.realm_id = ${realm} and s.further_emails @> array[lower(${asciiEmail(address)}::text)]`),
      // The group or role first: joined, PostgreSQL can look at each user's groups one by one.
      'groups.display': (name) => fragment`exists (
        select from group_member m where m.realm_id = u.realm_id and m.user_id = u.id and m.group_id = any(array(
          select g.id from user_group g where g.realm_id = ${realm}
            and lower(${shownGroupPathSql(fragment`g.path`)}) = lower('/' || ${name}::text))))`,
      'roles.value': (name) => fragment`exists (
        select from user_role ur where ur.realm_id = u.realm_id and ur.user_id = u.id and ur.role_id = any(array(
          select r.id from role r where r.realm_id = ${realm} and r.client is null and r.name = ${name}::text)))`,
    },
    sorted: { 'emails.value': email },
  };
}

/** A sub-attribute as the document contains it. */
const partOf = (value: Fragment, { name, type }: Attribute): Column => {
  const part = fragment`${value} ->> ${name}::text`;
  return type === 'boolean' ? { sql: fragment`(${part})::boolean`, kind: 'boolean', nullable: true } : maybe(part);
};
const partsOf = (name: string, value: Fragment): Record<string, Column> =>
  Object.fromEntries(
    (placeOf(userType, name)?.attribute.subAttributes ?? []).map((part) => [part.name, partOf(value, part)]),
  );

/** The values of an attribute in the document. */
const listed = (name: string): Rows => ({
  some: (condition) => fragment`exists (
    select from scim_user s cross join lateral jsonb_array_elements(s.document -> ${name}::text) v (value)
    where s.realm_id = u.realm_id and s.user_id = u.id and ${condition})`,
  columns: partsOf(name, fragment`v.value`),
});

/** Further e-mail addresses; filters by address also look here, by an index of their own. */
const furtherRows = (realm: string): Rows => ({
  some: (condition) => fragment`u.id = any(array(
    select s.user_id from scim_user s cross join lateral jsonb_array_elements(s.document -> 'emails') v (value)
    where s.realm_id = ${realm} and s.further_emails <> '{}' and ${condition}))`,
  columns: {
    ...partsOf('emails', fragment`v.value`),
    value: {
      ...text(fragment`(v.value ->> 'value')`),
      equals: (address) => fragment`(s.further_emails @> array[lower(${asciiEmail(address)}::text)]
        and lower(v.value ->> 'value') = lower(${asciiEmail(address)}::text))`,
    },
  },
});

/**
 * The document's marks for values that are stored elsewhere.
 * @param such the condition that the mark `m` belongs to the value
 */
const marksOf = (of: Marked, such: Fragment): Record<string, Column> =>
  Object.fromEntries(
    markedParts[of].map((name) => {
      const sql = fragment`(select m.value ->> ${name}::text
        from scim_user s cross join lateral jsonb_array_elements(s.document #> array['marks', ${of}::text]) m (value)
        where s.realm_id = u.realm_id and s.user_id = u.id and ${such} limit 1)`;
      return [
        name,
        name === 'primary' ? { sql: fragment`${sql}::boolean`, kind: 'boolean', nullable: true } : maybe(sql),
      ];
    }),
  );

/** The visible attributes `a` that begin with the prefix. */
function ofSeen(profile: UserProfile, prefix: string): Fragment {
  const seen = seenByAdministrators(profile, fragment`a.key`) ?? fragment`true`;
  return fragment`starts_with(a.key, ${prefix}) and ${seen}`;
}

const phones = (profile: UserProfile): Rows => ({
  some: (condition) => fragment`exists (
    select from jsonb_each(u.attributes) a cross join lateral jsonb_array_elements_text(a.value) v (value)
    where ${ofSeen(profile, PHONES)} and v.value <> '' and ${condition})`,
  columns: {
    value: text(fragment`v.value`),
    type: text(fragment`substr(a.key, ${PHONES.length + 1}::int)`),
    ...marksOf(
      'phoneNumbers',
      fragment`m.value ->> 'value' = v.value
        and lower(coalesce(m.value ->> 'type', 'other')) = substr(a.key, ${PHONES.length + 1}::int)`,
    ),
  },
});

const addresses = (profile: UserProfile): Rows => ({
  some: (condition) => fragment`exists (
    select from (
      select split_part(a.key, '.', 2) as type, jsonb_object_agg(split_part(a.key, '.', 3), a.value ->> 0) as parts
      from jsonb_each(u.attributes) a
      where ${ofSeen(profile, ADDRESSES)} and a.value ->> 0 <> '' and split_part(a.key, '.', 4) = ''
        and split_part(a.key, '.', 3) = any(${addressParts}::text[])
      group by 1) p
    where ${condition})`,
  columns: {
    type: text(fragment`p.type`),
    ...marksOf('addresses', fragment`lower(coalesce(m.value ->> 'type', 'other')) = p.type`),
    ...Object.fromEntries(addressParts.map((part) => [part, maybe(fragment`p.parts ->> ${part}::text`)])),
  },
});
