// SQL of the search: one statement, with a part for each kind and each way to match. A part finds its rows by an index over the
// names of all realms (migration names_of_all_realms), and returns a bounded number of them.

import type { SearchKind } from '../../../contract/search.ts';
import { searchedText } from '../../../db/searched-text.ts';
import { Fragment, fragment, type Sql } from '../../../db/sql.ts';
import { clientReached, groupReached, type Reach, userReached } from '../../../domain/reach.ts';
import { userMatches } from '../../../domain/user-search.ts';
import { likeText } from '../../../http/paging.ts';

/** Where the caller may see a kind: every realm, or some; and single groups and clients of the home realm. */
export interface Visible {
  realms: 'all' | readonly string[];
  limited: { realm: string; reach: Reach } | undefined;
}
export interface HitRow {
  kind: SearchKind;
  match: Match;
  realm: string;
  id: string;
  name: string;
  detail: string | null;
}
/** How the text is compared: the whole name, a part of it, or the id. */
export type Match = 'whole' | 'part' | 'id';

interface Table {
  from: Fragment;
  columns: Fragment;
  /** The indexed text of the names: one line for each. */
  names: Fragment;
  /** How many lines the text has. */
  lines: 1 | 2;
}
type Plain = Exclude<SearchKind, 'user'>;

const tables: Record<Plain, Table> = {
  realm: {
    from: fragment`realm t`,
    columns: fragment`t.realm_id as realm, t.realm_id as id, t.realm_id as name, t.settings ->> 'displayName' as detail`,
    names: searchedText(['t.realm_id', "t.settings ->> 'displayName'"]),
    lines: 2,
  },
  client: {
    from: fragment`client t`,
    columns: fragment`t.realm_id as realm, t.id::text, t.client_id as name, t.name as detail`,
    names: searchedText(['t.client_id', 't.name']),
    lines: 2,
  },
  group: {
    from: fragment`user_group t`,
    columns: fragment`t.realm_id as realm, t.id::text, t.path as name, null::text as detail`,
    names: searchedText(['t.name']),
    lines: 1,
  },
  role: {
    from: fragment`role t`,
    columns: fragment`t.realm_id as realm, t.id::text, t.name, (
      select c.client_id from client c where c.realm_id = t.realm_id and c.id = t.client) as detail`,
    names: searchedText(['t.name']),
    lines: 1,
  },
  organization: {
    from: fragment`organization t`,
    columns: fragment`t.realm_id as realm, t.id::text, t.name, t.display_name as detail`,
    names: searchedText(['t.name', 't.display_name']),
    lines: 2,
  },
};

/** Whether the database has the indexes of trigrams. */
export async function hasTrigrams(sql: Sql): Promise<boolean> {
  const [found] =
    await sql`select where to_regclass('client_names') is not null and to_regclass('realm_user_search') is not null`;
  return found !== undefined;
}

const reachedIn = (kind: Plain, { realm, reach }: NonNullable<Visible['limited']>): Fragment | undefined => {
  if (kind === 'group') return fragment`(t.realm_id = ${realm} ${groupReached(realm, reach)})`;
  return kind === 'client' ? fragment`(t.realm_id = ${realm} ${clientReached(realm, reach)})` : undefined;
};

/** Condition on rows `t`: their realm is not being deleted. */
const there = fragment`not exists (select from realm gone where gone.realm_id = t.realm_id and gone.deleted_at is not null)`;

/** Condition on rows `t`: the caller may see them. */
const seen = (kind: Plain, visible: Visible): Fragment => fragment`${there} and ${permitted(kind, visible)}`;
function permitted(kind: Plain, { realms, limited }: Visible): Fragment {
  if (realms === 'all') return fragment`true`;
  const whole = fragment`t.realm_id = any(${realms}::text[])`;
  const reached = limited && reachedIn(kind, limited);
  return reached ? fragment`(${whole} or ${reached})` : whole;
}

/** Condition: a line of `names` is the text, or has it anywhere or (without trigrams) the first line begins with it. */
function matching(
  { names, lines }: Pick<Table, 'names' | 'lines'>,
  q: string,
  match: Match,
  anywhere: boolean,
): Fragment {
  const text = likeText(q.toLowerCase());
  if (match === 'part') return fragment`${names} like ${anywhere ? `%${text}%` : `${text}%`}`;
  if (lines === 1) return fragment`${names} like ${text}`;
  const first = fragment`${names} like ${`${text}\n%`}`;
  return anywhere ? fragment`(${first} or ${names} like ${`%\n${text}`})` : first;
}

export interface Wanted {
  q: string;
  matches: readonly Match[];
  /** Where the caller may see each kind; others are not searched. */
  places: ReadonlyMap<SearchKind, Visible>;
  /** The database has trigrams. */
  anywhere: boolean;
  limit: number;
}

/** At most `limit` rows of each kind and each way to match, in no order; one object can match in several ways. */
export async function find(sql: Sql, { q, matches, places, anywhere, limit }: Wanted): Promise<HitRow[]> {
  // Where many users have the text, trigrams don't tell a whole name from a part of one; where few have it, all of them are among the parts.
  const later = anywhere && matches.includes('part');
  const parts: Fragment[] = [];
  for (const [kind, visible] of places)
    for (const match of matches) {
      if (later && kind === 'user' && match === 'whole') continue;
      const of = { q, match, visible, anywhere };
      const rows = kind === 'user' ? await userRows(sql, of) : plainRows(kind, of);
      if (rows) parts.push(limited(kind, match, rows, limit));
    }
  const found = await allOf(sql, parts);
  const visible = places.get('user');
  if (!later || !visible) return found;
  const isPart = ({ kind, match }: HitRow) => kind === 'user' && match === 'part';
  const isWhole = ({ name, detail }: HitRow) => [name, detail].some((one) => one?.toLowerCase() === q.toLowerCase());
  if (found.filter(isPart).length < limit)
    return found.map((row) => (isPart(row) && isWhole(row) ? { ...row, match: 'whole' } : row));
  return [...found, ...(await allOf(sql, [limited('user', 'whole', wholeUsers(q, visible), limit)]))];
}

const limited = (kind: SearchKind, match: Match, rows: Fragment, limit: number): Fragment =>
  fragment`(select ${kind}::text as kind, ${match}::text as match, ${rows} limit ${limit})`;

async function allOf(sql: Sql, parts: readonly Fragment[]): Promise<HitRow[]> {
  const [first, ...rest] = parts;
  if (!first) return [];
  // not prepared: the best plan depends on the text
  return sql<HitRow>`${Fragment.once('')}${rest.reduce((all, one) => fragment`${all} union all ${one}`, first)}`;
}

interface Part {
  q: string;
  match: Match;
  visible: Visible;
  anywhere: boolean;
}

/** What follows `select`; undefined: the kind has no such match. */
function plainRows(kind: Plain, { q, match, anywhere, visible }: Part): Fragment | undefined {
  const table = tables[kind];
  if (match !== 'id')
    return fragment`${table.columns} from ${table.from}
      where ${matching(table, q, match, anywhere)} and ${seen(kind, visible)}`;
  if (kind === 'realm') return undefined;
  return byId(q, visible, fragment`${table.columns} from ${table.from}`, seen(kind, visible));
}

/** @param rows columns and the table `t` */
const byId = (id: string, visible: Visible, rows: Fragment, where: Fragment): Fragment => fragment`
  t.* from ${realmsOf(visible)} cross join lateral (
    select ${rows} where t.realm_id = r.realm_id and t.id = ${id}::uuid and ${where}) t`;

/** The realms in which an id is looked up, as rows `r`. */
const realmsOf = ({ realms, limited }: Visible): Fragment =>
  realms === 'all'
    ? fragment`realm r`
    : fragment`unnest(${[...new Set([...realms, ...(limited ? [limited.realm] : [])])]}::text[]) as r (realm_id)`;

const userTable = fragment`t.realm_id as realm, t.id::text, t.username as name, t.email as detail from realm_user t`;
const userText = fragment`search_form(t.username || E'\\n' || coalesce(t.email, '') || E'\\n' || coalesce(t.first_name, '') || ' ' || coalesce(t.last_name, ''))`;

async function userRows(sql: Sql, { q, match, anywhere, visible }: Part): Promise<Fragment | undefined> {
  const where = fragment`${there} and ${permittedUsers(visible)}`;
  if (match === 'id') return byId(q, visible, userTable, where);
  const text = likeText(q);
  if (anywhere)
    return match === 'whole'
      ? wholeUsers(q, visible)
      : fragment`${userTable} where ${userText} like search_form(${`%${text}%`}::text) and ${where}`;
  const [realm] =
    visible.realms === 'all' ? [] : [...visible.realms, ...(visible.limited ? [visible.limited.realm] : [])];
  if (realm === undefined) return undefined;
  const whole = fragment`(lower(u.username) = lower(${q}) or lower(u.email) = lower(${q}))`;
  const found = match === 'part' ? await userMatches(sql, realm, `%${text}%`) : whole;
  return fragment`${userTable}
    where t.realm_id = ${realm} and t.id in (select u.id from realm_user u where u.realm_id = ${realm} and ${found}) and ${where}`;
}

/** Users whose username or address is the text, by the two unique indexes of each realm. */
function wholeUsers(q: string, visible: Visible): Fragment {
  const where = fragment`${there} and ${permittedUsers(visible)}`;
  return fragment`t.* from ${realmsOf(visible)} cross join lateral (
    select ${userTable} where t.realm_id = r.realm_id and lower(t.username) = lower(${q}) and ${where}
    union all
    select ${userTable} where t.realm_id = r.realm_id and lower(t.email) = lower(${q}) and ${where}) t`;
}

/** `userReached` is about the row `u`. */
function permittedUsers(visible: Visible): Fragment {
  const { realms, limited } = visible;
  if (realms === 'all') return fragment`true`;
  const whole = fragment`t.realm_id = any(${realms}::text[])`;
  if (!limited) return whole;
  const { realm, reach } = limited;
  return fragment`(${whole} or (t.realm_id = ${realm} and exists (
    select from realm_user u where u.realm_id = t.realm_id and u.id = t.id and ${userReached(realm, reach)})))`;
}
