// A person's pseudonym in the place of their id and names in an event's JSON. Their id, which nobody chooses, is replaced wherever
// it stands. Names they chose, and `user` or `roles` may be one: those are replaced where they are somebody's name, and in what is
// told of the person, but never in a word of the server's own. Specification 4.6, 6.1.
import { type Fragment, fragment } from '../db/statement.ts';

export interface Erased {
  id: string;
  username: string;
  email: string | null;
  /** What stands for them from now on. */
  pseudonym: string;
}
export interface EventColumns {
  actor: Fragment;
  subject: Fragment;
  data: Fragment;
}

/** Fields of `data` that name a person without their id. */
const NAMES = 'with|username|email|impersonator';
/** Fields of `data` that hold words of the server's own, or name something else. */
const WORDS =
  'type|id|kind|action|reason|error|outcome|grant|what|scope|protocol|because|channel|templateKey|permission|method|' +
  'clientId|client|application|authenticator|algorithm|platform|resource|resourceServer|owner|realm|manager|' +
  'identityProvider|directory|organization|credential';

const anyOf = (texts: readonly string[]): string =>
  texts
    .map((text) =>
      JSON.stringify(text)
        .slice(1, -1)
        .replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`),
    )
    .join('|');

/** Regular expressions over a JSON text, as PostgreSQL writes it. What is before a value is captured: `\1`. */
export function patternsOf({ id, username, email }: Pick<Erased, 'id' | 'username' | 'email'>) {
  const texts = [username, ...(email === null ? [] : [email])];
  // In a list nothing says what a text is; but an address is no word of ours.
  const addresses = texts.filter((text) => text.includes('@'));
  const inList = addresses.length === 0 ? '' : String.raw`|([[,] ?)"(?:${anyOf(addresses)})"(?!\s*:)`;
  return {
    id: String.raw`()"${anyOf([id])}"(?!\s*:)`,
    named: `("(?:${NAMES})": ?)"(?:${anyOf(texts)})"`,
    own: String.raw`("(?!(?:${WORDS})":)(?:[^"\\]|\\.)*": ?)"(?:${anyOf(texts)})"${inList}`,
  };
}

/** Which events tell of the person, and what they say from then on. */
export function erasureOf({ id, username, email, pseudonym }: Erased, { actor, subject, data }: EventColumns) {
  const patterns = patternsOf({ id, username, email });
  const instead = `\\1\\2${JSON.stringify(pseudonym)}`;
  const replaced = (text: Fragment, pattern: Fragment) =>
    fragment`regexp_replace(${text}, ${pattern}, ${instead}, 'gi')`;
  const nobodyElse = (party: Fragment) => fragment`(${party} ->> 'id' is null and ${party} ->> 'type' = 'user'
    and lower(${party} ->> 'name') in (lower(${id}::text), lower(${username}::text), lower(${email}::text)))`;
  const byId = fragment`(concat(${actor}, ${subject}, ${data}) ~* ${patterns.id})`;
  const named = (party: Fragment) => fragment`case
    when ${party} ->> 'id' = ${id} then
      ${party} || jsonb_build_object('id', ${pseudonym}::text, 'name', case when ${party} ->> 'name' is not null then ${pseudonym}::text end)
    when ${nobodyElse(party)} then ${party} || jsonb_build_object('name', ${pseudonym}::text)
    else ${replaced(fragment`${party}::text`, fragment`${patterns.id}`)}::jsonb end`;
  const names = fragment`case when ${byId} then ${patterns.own} else ${patterns.named} end`;
  return {
    tells: fragment`(${byId} or ${nobodyElse(actor)} or ${nobodyElse(subject)} or ${data}::text ~* ${patterns.named})`,
    actor: named(actor),
    subject: named(subject),
    data: fragment`${replaced(replaced(fragment`${data}::text`, fragment`${patterns.id}`), names)}::jsonb`,
  };
}
