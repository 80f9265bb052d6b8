// Who writes which table, read from the SQL in the sources.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { declaredKinds } from '../../server/contract/declared-kinds.ts';
import type { KindOf } from '../../server/contract/kind.ts';

const root = path.resolve(import.meta.dirname, '../..');
const files = readdirSync(path.join(root, 'server'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
  .sort();
const tables = new Set(
  [...readFileSync(path.join(root, 'test/support/schema.sql'), 'utf8').matchAll(/^create table (\w+)/gim)].map(
    ([, table = '']) => table,
  ),
);

/** A feature writes as one, whichever of its files does, and so do events; elsewhere each file is a writer. */
const writerOf = (file: string): string =>
  /^server\/(features\/[^/]+\/[^/]+|events)\//.exec(file)?.[1] ?? file.replace('server/', '');

const withoutComments = (text: string): string => text.replaceAll(/^\s*\/\/.*$/gm, '').replaceAll(/\/\*.*?\*\//gs, '');

/** Statements, targets of COPY, and what a resource is declared to be kept in. */
const WRITES = [
  /\b(?:insert\s+into|delete\s+from|update)\s+(\w+)/g,
  /'(\w+) \(realm_id,/g,
  /\btable: \{\s*name: '(\w+)'/g,
  /\btable: fragment`(\w+)`/g,
];

const writers = new Map<string, Set<string>>();
for (const file of files) {
  const text = withoutComments(readFileSync(path.join(root, file), 'utf8'));
  for (const [, table = ''] of WRITES.flatMap((pattern) => [...text.matchAll(pattern)]))
    if (tables.has(table)) writers.set(table, (writers.get(table) ?? new Set()).add(writerOf(file)));
}

// a kind that is declared as a whole names its table nowhere: it follows from the kind
for (const { section, table } of Object.values<KindOf>(declaredKinds)) {
  const declares = `export const ${section}Resource =`;
  const writer = files.find((file) => readFileSync(path.join(root, file), 'utf8').includes(declares));
  if (writer) writers.set(table, (writers.get(table) ?? new Set()).add(writerOf(writer)));
}

/** Deletes what has expired of any table, by its list of them. */
const JANITOR = 'jobs/janitor.ts';

/** Who writes what isn't theirs, and why that is better than the way round. */
const exceptions: Record<string, Record<string, string>> = {
  'domain/end-access.ts': {
    because: 'ends all that somebody has at once, in a constant number of statements, however many people there are',
    tables: 'session admin_session refresh_family sign_in revoked_token device_enrolment enrolment_link',
  },
  'domain/acting.ts': {
    because:
      'who acts for others acts no longer, in the transaction in which their right to it ends, whatever takes it',
    tables: 'session',
  },
  'domain/ownership.ts': {
    because: 'a renamed object stays held, under both names, in the transaction of the rename',
    tables: 'held_object',
  },
  'domain/agents.ts': {
    because: 'an agent stops in the transaction in which its owner does',
    tables: 'agent',
  },
  'domain/identity-links.ts': {
    because:
      'an identity provider that is deleted takes its links along, one that keeps no tokens its tokens, and ends what their people had signed in to',
    tables: 'identity_link provider_token',
  },
  'features/people/agents': {
    because: 'an agent’s end disables its client in the same transaction, so that nobody acts by it in between',
    tables: 'client',
  },
  'features/configuration/flows': {
    because: 'a flow is named by its alias: what names it follows a rename in the same statement',
    tables: 'client application identity_provider saml_client realm',
  },
  'domain/grants.ts': {
    because: 'a refresh notes in its one statement that the session was seen; one that is reused refuses its tokens',
    tables: 'session revoked_token',
  },
  'domain/asserted-grants.ts': {
    because: 'another issuer’s assertion begins a grant that has no code',
    tables: 'refresh_family',
  },
  'domain/backchannel-requests.ts': {
    because: 'an approval notes the client in the session that it begins, in its one statement',
    tables: 'session_client',
  },
  'features/people/users': {
    because:
      'imports bring users with their hashes and identities in one statement for all; a deleted credential is the user’s',
    tables: 'credential identity_link',
  },
  'domain/required-actions.ts': {
    because: 'what a person must do is a column of theirs, asked for and fulfilled by whatever they set up',
    tables: 'realm_user',
  },
  'features/operations/transfer': {
    because: 'who manages a user is a column of theirs, since users are many; adoption is the realm’s',
    tables: 'realm_user realm',
  },
  'features/people/gdpr': {
    because: 'withdraws and erases in one statement what a person has in several places',
    tables: 'realm_user consent saml_consent webhook_delivery sign_in',
  },
  'domain/new-users.ts': {
    because: 'default roles and groups are given to whoever is new, by whatever way they come',
    tables: 'user_role group_member',
  },
  'features/configuration/clients': {
    because:
      'what a service account may administer is declared with its client; claims that name a client follow its rename',
    tables: 'admin_grant claim protocol_mapper',
  },
  'features/configuration/realms': {
    because:
      'with a realm goes what was granted over it elsewhere, and what keeps its roles before they do; nothing of it acts while it goes',
    tables: 'admin_grant application webhook messaging_provider scim_target directory saml_client agent',
  },
  'db/transact.ts': { because: 'the revision is raised last in each transaction that configures', tables: 'realm' },
  'domain/subjects.ts': { because: 'the salt of pairwise subjects is made when it is first needed', tables: 'realm' },
  'features/configuration/user-profile': {
    because: 'a realm’s user profile is a column of the realm, as its settings are',
    tables: 'realm',
  },
  'features/configuration/settings': {
    because: 'settings are a column of the realm, and the realm itself is features/realms’',
    tables: 'realm',
  },
};
const excepted = (table: string, writer: string): boolean =>
  exceptions[writer]?.tables?.split(' ').includes(table) ?? false;

test('a table has one writer', () => {
  const several = [...writers].flatMap(([table, all]) => {
    const owners = [...all].filter((writer) => writer !== JANITOR && !excepted(table, writer));
    return owners.length === 1 ? [] : [`${table}: ${owners.join(', ')}`];
  });
  expect(several).toEqual([]);
});

test('an exception that is none any more is taken out', () => {
  const unneeded = Object.entries(exceptions).flatMap(([writer, { tables: named = '' }]) =>
    named.split(' ').flatMap((table) => (writers.get(table)?.has(writer) ? [] : [`${writer}: ${table}`])),
  );
  expect(unneeded).toEqual([]);
});
