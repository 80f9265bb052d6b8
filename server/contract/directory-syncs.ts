// Operations on a directory in addition to its configuration: syncs and the connection test. Specification 4.2;
// decisions "User federation".
import { z } from 'zod';
import { EpochMs, Id, InRealm, name, Page } from './names.ts';
import { byKey } from './resource.ts';
import { route } from './route.ts';
import { userFederation } from './user-federation.ts';

const At = byKey('alias', name(255));
const tag = 'user-federation';
const at = '/admin/realms/:realm/user-federation/:alias' as const;

export const DirectorySync = z
  .object({
    id: Id,
    kind: z
      .enum(['full', 'changed'])
      .describe('full: all of its people, so also who is gone; changed: who was changed'),
    state: z.enum(['waiting', 'running', 'done', 'failed']),
    created: EpochMs.describe('When it was asked for'),
    started: EpochMs.nullable(),
    finished: EpochMs.nullable(),
    read: z.int().describe('Entries of people that were read so far'),
    total: z
      .int()
      .nullable()
      .describe(
        'How many entries there were when it began, for a percentage; null: not counted, as of scheduled syncs and of directories that take long to count',
      ),
    added: z.int(),
    updated: z.int(),
    disabled: z.int().describe('Who may not sign in there any more, or is gone'),
    failed: z.int().describe('Entries that could not be taken, or not whole'),
    errors: z.array(z.object({ entry: z.string(), message: z.string() })).describe('Why not, of some of them'),
    error: z.string().nullable().describe('What ended it, or its last try'),
  })
  .meta({ id: 'DirectorySync' });
export type DirectorySync = z.infer<typeof DirectorySync>;

export const syncDirectory = route({
  method: 'POST',
  path: `${at}/sync`,
  operationId: 'syncDirectory',
  tag,
  summary: 'Take over the people of a directory',
  description:
    'Begins a sync, or finds the one that is under way. Its answer is 200 where it ends within two seconds, else 202 with what there ' +
    'is so far, and `Location` says where to ask for the rest. It goes on by itself, also in another process.',
  permission: 'user-federation:write',
  params: At,
  query: z.strictObject({
    kind: z
      .enum(['full', 'changed'])
      .optional()
      .describe('Default: full; changed reads what was changed since the last sync'),
  }),
  response: DirectorySync,
  mayTakeLonger: true,
  problems: ['not-found', 'wrong-state'],
});
export const listDirectorySyncs = route({
  method: 'GET',
  path: `${at}/syncs`,
  tag,
  summary: 'List the syncs with a directory, the latest first',
  permission: 'user-federation:read',
  params: At,
  query: Page,
  response: z.array(DirectorySync),
  problems: ['not-found'],
});
export const getDirectorySync = route({
  method: 'GET',
  path: `${at}/syncs/:syncId`,
  tag,
  summary: 'Read a sync: how far it is, or what it did',
  permission: 'user-federation:read',
  params: At.extend({ syncId: Id }),
  response: DirectorySync,
  problems: ['not-found'],
});

const TriedEntry = z.object({
  entry: z.string().describe('Its distinguished name'),
  username: z.string().nullable(),
  email: z.string().nullable(),
  firstName: z.string().nullable(),
  lastName: z.string().nullable(),
  enabled: z.boolean().describe('false: the directory has disabled the account'),
  attributes: z
    .record(z.string(), z.array(z.string()))
    .describe('As the user would have them; long values and lists are cut'),
  omitted: z
    .array(z.string())
    .describe('Fields that are mapped and not shown: passwords and other secrets, and values that are bytes'),
});

export const DirectoryTest = z
  .object({
    ok: z.boolean(),
    error: z.string().nullable().describe('Why not, in words of the directory'),
    people: z.array(z.string()).describe('Usernames of some of whom a sync would take'),
    entries: z.array(TriedEntry).describe('At most ten entries as a sync would take them'),
    faults: z.array(z.object({ entry: z.string(), message: z.string() })).describe('Entries that it could not take'),
  })
  .meta({ id: 'DirectoryTest' });
export type DirectoryTest = z.infer<typeof DirectoryTest>;
export const testDirectory = route({
  method: 'POST',
  path: `${at}/test`,
  operationId: 'testDirectory',
  tag,
  summary: 'Try a directory out: connect, sign in there, read some people; nothing is written',
  permission: 'user-federation:write',
  params: At,
  response: DirectoryTest,
  recordsNothing: true,
  problems: ['not-found', 'too-many-requests'],
});

export const testUnsavedDirectory = route({
  method: 'POST',
  path: '/admin/realms/:realm/user-federation/test',
  operationId: 'testUnsavedDirectory',
  tag,
  summary: 'Try out the settings of a directory that is not saved; nothing is written',
  description: 'The password of `bindDn` is that of the request alone: no stored one is sent anywhere.',
  permission: 'user-federation:write',
  params: InRealm,
  body: userFederation.input,
  example: {
    alias: 'corporate',
    connection: { urls: ['ldaps://directory.example.com'], bindDn: 'cn=realmkeeper,dc=example,dc=com' },
    users: { base: 'ou=people,dc=example,dc=com', filter: '(objectClass=inetOrgPerson)' },
    secret: 'the password there',
  },
  response: DirectoryTest,
  recordsNothing: true,
  problems: ['too-many-requests'],
});
