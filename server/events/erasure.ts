// Replaces a user's id and names by their pseudonym in an event's JSON. The id is random, so it is replaced everywhere. A user can choose
// a name such as `user` or `roles`: names are replaced in fields that hold a user's name, and in data about this user, but never in the
// server's own words. Specification 4.6, 6.1.
import { type Fragment, fragment } from '../db/statement.ts';

export interface Erased {
  id: string;
  username: string;
  email: string | null;
  /** The e-mail address, if it is surely the user's own. */
  ownEmail: string | null;
  /** The pseudonym that replaces the user's name from now on. */
  pseudonym: string;
}
export interface EventColumns {
  actor: Fragment;
  subject: Fragment;
  data: Fragment;
}

/** Fields of `data` that name a user without an id. */
const NAMES = 'with|username|email|impersonator';
/** Fields of `data` with words of the server, or with names of other objects. */
const WORDS =
  'type|id|kind|action|reason|error|outcome|grant|what|scope|protocol|because|channel|templateKey|permission|method|' +
  'clientId|client|application|authenticator|algorithm|platform|resource|resourceServer|owner|realm|manager|' +
  'identityProvider|directory|organization|credential';

/** Fields with text that a user typed. */
const FREE = String.raw`("(?:deviceName|label)": ?)"(?:[^"\\]|\\.)*"`;

const anyOf = (texts: readonly string[]): string =>
  texts
    .map((text) =>
      JSON.stringify(text)
        .slice(1, -1)
        .replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`),
    )
    .join('|');

/** A user's id and names. */
type Called = Pick<Erased, 'id' | 'username' | 'email' | 'ownEmail'>;
const namesOf = (username: string, email: string | null): string[] => [username, ...(email === null ? [] : [email])];

/**
 * Regular expressions over a JSON text in PostgreSQL's format. They capture the text before a value: `\1`. An unconfirmed address is
 * searched only in the user's own data (`own`).
 */
export function patternsOf({ id, username, email, ownEmail }: Called) {
  const texts = namesOf(username, email);
  // A text in a list has no field name that shows what it is; but only names of users contain an @.
  const addresses = texts.filter((text) => text.includes('@'));
  const inList = addresses.length === 0 ? '' : String.raw`|([[,] ?)"(?:${anyOf(addresses)})"(?!\s*:)`;
  return {
    // Also within requested URLs.
    id: `(${anyOf([id])})`,
    named: `("(?:${NAMES})": ?)"(?:${anyOf(namesOf(username, ownEmail))})"`,
    own: String.raw`("(?!(?:${WORDS})":)(?:[^"\\]|\\.)*": ?)"(?:${anyOf(texts)})"${inList}`,
  };
}

/**
 * A regular expression over the state of an unfinished sign-in: it belongs to the user, or somebody typed the username
 * in it.
 */
export const signInsOf = ({ id, username, ownEmail }: Omit<Called, 'email'>): string =>
  `${id}|"(?:username|email|loginHint)": ?"(?:${anyOf(namesOf(username, ownEmail))})"`;

/** The condition for events that name the user, and their columns after the erasure. */
export function erasureOf(person: Erased, { actor, subject, data }: EventColumns) {
  const { id, username, email, ownEmail, pseudonym } = person;
  const patterns = patternsOf(person);
  const instead = `\\1\\2${JSON.stringify(pseudonym)}`;
  const replaced = (text: Fragment, pattern: Fragment) =>
    fragment`regexp_replace(${text}, ${pattern}, ${instead}, 'gi')`;
  const withoutId = (text: Fragment) => fragment`regexp_replace(${text}, ${patterns.id}, ${pseudonym}, 'gi')`;
  const nobodyElse = (party: Fragment, address = fragment`${ownEmail}::text`) =>
    fragment`(${party} ->> 'id' is null and ${party} ->> 'type' = 'user'
    and lower(${party} ->> 'name') in (lower(${id}::text), lower(${username}::text), lower(${address})))`;
  const byId = fragment`(concat(${actor}, ${subject}, ${data}) ~* ${patterns.id})`;
  // Users often put their name into the names of their devices and passkeys.
  const free = fragment`regexp_replace(${withoutId(fragment`${data}::text`)}, ${FREE}, ${instead}, 'g')`;
  const named = (party: Fragment) => fragment`case
    when ${party} ->> 'id' = ${id} then
      ${party} || jsonb_build_object('id', ${pseudonym}::text, 'name', case when ${party} ->> 'name' is not null then ${pseudonym}::text end)
    when ${nobodyElse(party, fragment`case when ${byId} then ${email}::text else ${ownEmail}::text end`)} then ${party} || jsonb_build_object('name', ${pseudonym}::text)
    else ${withoutId(fragment`${party}::text`)}::jsonb end`;
  return {
    tells: fragment`(${byId} or ${nobodyElse(actor)} or ${nobodyElse(subject)} or ${data}::text ~* ${patterns.named})`,
    actor: named(actor),
    subject: named(subject),
    data: fragment`(case when ${byId} then ${replaced(free, fragment`${patterns.own}`)}
      else ${replaced(fragment`${data}::text`, fragment`${patterns.named}`)} end)::jsonb`,
  };
}

/**
 * A query of `realm_id` and `id` of events that may name the user, all found by indexes: in the user's realm, and for a user who may
 * administer other realms, in every realm.
 */
export function maybeTelling(realm: string, { id, username, ownEmail }: Omit<Called, 'email'>): Fragment {
  const realms =
    realm === 'master' ? fragment`(select realm_id from realm)` : fragment`(select ${realm}::text as realm_id)`;
  const party = (of: Fragment) => fragment`
    select e.realm_id, e.id from ${realms} r join event e on e.realm_id = r.realm_id
    where ${of} ->> 'type' = 'user' and ${of} ->> 'id' = ${id}`;
  const named = (texts: readonly string[]) => fragment`
    select realm_id, id from event where event_people(actor, subject, data) && ${texts}::text[] and event_people(actor, subject, data) <> '{}'`;
  const names = namesOf(username, ownEmail).map((name) => name.toLowerCase());
  return fragment`
    ${party(fragment`actor`)} union ${party(fragment`subject`)}
    union (${named([id])}) union (${named(names)} and realm_id = ${realm})`;
}
