// Owns: each statement in the sources that touches a table with a realm binds each of its tables to a realm, or stands in the
// list here with the reason.
// Does not own: what another realm's ids answer over HTTP (isolation.test.ts), keys in the database (migrations.test.ts), the
// few statements whose table is a parameter (janitor, sealed columns, resources), which name the realm by parameters too.
// Implements: specification 1 ("a fully isolated tenant").
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { templatesIn } from '../support/sql-templates.ts';

const root = path.resolve(import.meta.dirname, '../..');
const files = readdirSync(path.join(root, 'server'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
  .sort();
const schema = readFileSync(path.join(root, 'test/support/schema.sql'), 'utf8');
const tables = new Set(
  [...schema.matchAll(/^create table (\w+) \(\n([\s\S]*?)^\);/gm)].flatMap(([, table = '', columns = '']) =>
    /^ {2}realm_id /m.test(columns) ? [table] : [],
  ),
);

const AFTER_TABLE =
  'where|set|on|using|cross|join|left|right|full|inner|order|group|limit|values|select|returning|for|and|union|default|as|fetch|offset|window';
const REFERENCE = new RegExp(
  String.raw`\b(from|join|into|update|using|only|merge into)\s+(\w+|\$0)(?:\s+(?:as\s+)?(?!(?:${AFTER_TABLE})\b)(\w+))?`,
  'g',
);

/** Without the places where a column is only inserted, shown or sorted by: they don't say which rows are meant. */
const withoutNames = (text: string): string =>
  text
    .replaceAll(/\binto (?:\w+|\$0)(?: as \w+)? \([^)]*\)/g, 'into')
    .replaceAll(/\bon conflict \([^)]*\)/g, '')
    .replaceAll(/\breturning [^)]*$/g, '')
    .replaceAll(/\border by [^)]*/g, '')
    .replaceAll(/\bpartition by [^)]*/g, '');

/** A comparison, or a list of columns that one is made of. */
const COMPARED = String.raw`\s*(?:=|in\b|>|<|,[\w., ]*\)\s*(?:=|in\b))`;
const compares = (text: string, column: string): boolean =>
  new RegExp(String.raw`(?<![\w.])${column}\b${COMPARED}|(?:=|\bin)\s*\(?(?<![\w.])${column}\b`).test(text);

/** Finds the other side of each comparison with a realm, also where the realm is the first of several columns. */
const PARTNERS =
  /(?<![\w.])(?:\w+\.)?realm_id\b(?:,[\w., ]*\))?\s*(?:=|in\b|>|<)\s*(\(?\$0|\(?select|any\(|[\w.]+)|([\w.]+|\$0)\s*=\s*(?:\w+\.)?realm_id\b/g;

/** Whether a realm that comes from elsewhere says which rows are meant, and not only which belong together. */
function namesRealm(text: string, aliases: ReadonlySet<string>): boolean {
  if (
    /\binto \w+(?: as \w+)? \(realm_id\b[^)]*\)\s*(?:values \(|select (?:distinct (?:on \([^)]*\) )?)?)\$0/.test(text)
  )
    return true;
  return [...withoutNames(text).matchAll(PARTNERS)].some(([, right, left]) => {
    const partner = right ?? left ?? '';
    const [, alias] = /^(?:(\w+)\.)?realm_id$/.exec(partner) ?? [];
    return !(partner.endsWith('realm_id') && (alias === undefined || aliases.has(alias)));
  });
}

/** The tables of a template that it binds to no realm. */
function unbound(text: string): string[] {
  const conditions = withoutNames(text);
  const references = [...text.matchAll(REFERENCE)];
  const ofRealms = references.filter(([, , table = '']) => tables.has(table));
  const aliases = new Set(ofRealms.flatMap(([, , table = '', alias]) => [alias ?? table]));
  // A row that is only inserted says itself whose it is.
  const looksUp = ofRealms.some(([, verb]) => verb !== 'into');
  if (looksUp && !namesRealm(text.replaceAll(/\s+/g, ' '), aliases)) return ofRealms.map(([, , table = '']) => table);
  return ofRealms.flatMap(([, verb, table = '', alias]) => {
    if (verb === 'into')
      return new RegExp(String.raw`into ${table}(?: as \w+)? \([^)]*\brealm_id\b`).test(text) ? [] : [table];
    const bound = compares(conditions, `${alias ?? table}.realm_id`) || compares(conditions, 'realm_id');
    return bound ? [] : [table];
  });
}

/** By file, then by how the statement begins (all of the file: `''`); and why it is right that it is bound to no realm. */
const allowed: Record<string, Record<string, string>> = {
  'server/domain/acting.ts': {
    'delete from session s using realm_user u where s.impersonator is not null':
      'administrators act for people of other realms: the sessions go by the realm of who acts, which the impersonator names',
  },
  'server/domain/ownership.ts': {
    'update managed_object set manager =': 'a manager is renamed in all realms at once, by an administrator of all',
  },
  'server/events/chain.ts': { '': 'one loop seals the events of all realms, each block of one realm by itself' },
  'server/events/erasure.ts': {
    '(select realm_id from realm)': 'an administrator of master who is erased may have acted in every realm',
    'select realm_id, id from event where event_people(':
      'by the person’s id, which no two people share, in every realm; by names, its caller adds the realm',
  },
  'server/events/log.ts': {
    'delete from departed_event where position <': 'events of realms that are deleted go once they are forwarded',
    'select b.realm_id as realm, b.number as block':
      'amends blocks, each found by the realm and the number of another row',
  },
  'server/events/retention.ts': {
    'select realm_id as realm, number, first_id': 'age deletes the oldest blocks of all realms',
    'gone as ( delete from event e $0': 'the part before or behind it names the events, each by its realm and its id',
    'with doomed as materialized (': 'finds the events of each block by the realm and the ids that the block names',
  },
  'server/events/position.ts': { '': 'one sequence counts the events of all realms' },
  'server/features/operations/admin-access/store.ts': {
    'delete from admin_session where expires_at <=': 'sessions that have expired go in all realms',
    'select count(*) = (select count(*)': 'a start looks after every realm',
    'select r.realm_id from realm r join realm_key k':
      'finds out whose a token is: by its issuer, and by a key that is that realm’s',
  },
  'server/features/people/credentials/passkey-store.ts': {
    "select secret ->> 'publicKey' as key from credential":
      'a browser keeps the passkeys of all realms of a host together; the holder of one learns whether there is one',
    'select distinct c.realm_id as realm from authenticator_metadata': 'a job asks where it has work',
  },
  'server/features/people/credentials/related-origins.ts': {
    "select settings -> 'passkeyRelatedOrigins'": 'the public list of an address, of the realms whose issuer is there',
  },
  'server/features/people/agents/store.ts': {
    'select distinct t.realm_id as realm from agent t': 'a job asks where it has work',
  },
  'server/features/operations/holds/personal-data.ts': {
    'update hold set actor': 'an administrator of master who is erased may have placed holds in every realm',
  },
  'server/features/operations/bootstrap/store.ts': { 'select realm_id from realm': 'a start looks after every realm' },
  'server/features/operations/forwarding/store.ts': {
    '': 'the server’s own log receiver gets the events of all realms, in one order',
  },
  'server/features/configuration/messaging/personal-data.ts': {
    'delete from message where named &&':
      'by digests of the person’s id and of their address in their realm; outside master the realm is added',
  },
  'server/features/operations/monitoring/service.ts': {
    'select count(*)::int as realms from realm': 'counts realms, for who may see all',
  },
  'server/features/operations/diagnostics/store.ts': {
    '': 'checks of the installation, for who may see all realms',
  },
  'server/features/operations/expiring/store.ts': {
    "(select t.realm_id as realm, 'key-certificate'": 'of one realm, or of all for who may see all',
  },
  'server/features/configuration/realms/store.ts': {
    'select md5(coalesce(sum(hashtextextended(realm_id':
      'the list of realms, of which the caller sees those that its condition names',
    'delete from admin_grant where target_realm =':
      'what administrators of master were granted over a realm goes with the realm',
  },
  'server/features/configuration/realms/removal-job.ts': {
    'select from realm where deleted_at': 'a job asks whether any realm has work for it',
  },
  'server/features/configuration/realms/removal-store.ts': {
    'select realm_id from realm where deleted_at': 'a job asks where it has work',
  },
  'server/features/configuration/saml-clients/refresh-job.ts': {
    'select from saml_client where metadata_url': 'a job asks whether any realm has work for it',
  },
  'server/features/operations/bootstrap/settled.ts': {
    'select count(*) = (select count(*)': 'a start looks after every realm',
  },
  'server/features/protocol/signal-transmitters/jobs.ts': {
    'select from signal_transmitter where enabled': 'a job asks whether any realm has work for it',
  },
  'server/features/operations/scim/provision-jobs.ts': {
    'select from scim_target where enabled': 'a job asks whether any realm has work for it',
  },
  'server/features/people/user-federation/sync-jobs.ts': {
    'select where exists (select from directory': 'a job asks whether any realm has work for it',
  },
  'server/features/configuration/saml-clients/refresh.ts': {
    'select c.realm_id as realm': 'a job asks where it has work',
  },
  'server/features/operations/scim/provision-store.ts': { 'select t.realm_id, t.id': 'a job asks where it has work' },
  'server/features/configuration/settings/store.ts': {
    'select from realm where own_issuer =': 'an issuer is one realm’s alone: looks whether it is another’s',
  },
  'server/features/operations/search/store.ts': {
    't.realm_id as realm, t.id::text, t.username as name':
      'a search over the realms that the caller may see: the conditions of `permittedUsers` name them',
  },
  'server/features/operations/transfer/move-store.ts': {
    '': 'a manager is renamed in all realms at once, by an administrator of all',
  },
  'server/features/people/user-federation/store.ts': {
    'select realm_id as realm, id from directory_sync': 'a job asks where it has work',
    'select d.realm_id as realm, d.id': 'a job asks where it has work',
  },
  'server/jobs/janitor.ts': {
    '(realm_id, revision) in (': 'what is above its realm’s own number goes, in all realms',
    'with ended as materialized (': 'sessions that have ended go in all realms',
    'with gone as ( update message set content': 'contents of messages that have expired go in all realms',
  },
};

const found = files.flatMap((file) =>
  templatesIn(readFileSync(path.join(root, file), 'utf8')).flatMap(({ text, line }) => {
    const words = text.replaceAll(/\s+/g, ' ').trim();
    const over = unbound(text);
    return over.length > 0 ? [{ file, line, words, over }] : [];
  }),
);
const reasonOf = ({ file, words }: (typeof found)[number]): string | undefined =>
  Object.entries(allowed[file] ?? {}).find(([beginning]) => words.startsWith(beginning))?.[1];

test('each statement on a table of realms names the realm, or is on the list', () => {
  const unknown = found
    .filter((one) => reasonOf(one) === undefined)
    .map(({ file, line, words, over }) => `${file}:${line} (${over.join(', ')}): ${words.slice(0, 160)}`);
  expect(unknown).toEqual([]);
});

test('what is on the list is in the sources', () => {
  const unneeded = Object.entries(allowed).flatMap(([file, statements]) =>
    Object.keys(statements)
      .filter((beginning) => !found.some((one) => one.file === file && one.words.startsWith(beginning)))
      .map((beginning) => `${file}: ${beginning}`),
  );
  expect(unneeded).toEqual([]);
});

test.each([
  ['delete from session where id = $0', ['session']],
  ['update credential set label = $0 where user_id = $0 and id = $0 returning realm_id', ['credential']],
  ['select realm_id from realm_user order by realm_id', ['realm_user']],
  [
    'select u.id from realm_user u join session s on s.realm_id = u.realm_id and s.user_id = u.id where u.id = $0',
    ['realm_user', 'session'],
  ],
  ['select u.id from realm_user u join session s on s.user_id = u.id where u.realm_id = $0', ['session']],
  ['insert into session (id) select id from realm_user where realm_id = $0', ['session']],
  ['select id from realm_user where realm_id = $0 and id = $0', []],
  ['select id from realm_user where (realm_id, id) in (select realm_id, id from $0)', []],
  ['insert into session (realm_id, id) values ($0, $0)', []],
  [
    'delete from session s using session_client c where s.realm_id = $0 and c.realm_id = s.realm_id and c.session_id = s.id',
    [],
  ],
])('of `%s` it finds that %j are bound to no realm', (text, over) => {
  expect(unbound(text)).toEqual(over);
});
