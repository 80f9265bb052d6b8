// User federation: directories whose users a realm imports. Decisions "User federation"; specification 4.2.
import { z } from 'zod';
import { kind } from './kind.ts';
import { name, text } from './names.ts';
import { PemCertificate } from './pem.ts';

const Url = z
  .string()
  .max(2048)
  .regex(
    /^ldaps?:\/\/([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?\/?$/,
    'must be ldaps://host or ldap://host, with a port or without',
  )
  .refine((url) => URL.canParse(url), 'must have a host and a port that can be');
const Dn = text(2000)
  .min(1)
  .regex(/^\s*[A-Za-z0-9.-]+\s*=/, 'must be a distinguished name such as ou=people,dc=example,dc=com');
const Filter = text(4000).regex(/^\(.*\)$/s, 'must be a filter in parentheses (RFC 4515)');
const Attribute = z
  .string()
  .max(255)
  .regex(/^[A-Za-z][A-Za-z0-9-]*(;[A-Za-z0-9-]+)*$|^[0-9]+(\.[0-9]+)+$/, 'must be the name of an LDAP attribute');

export const Connection = z.strictObject({
  urls: z
    .array(Url)
    .min(1)
    .max(10)
    .describe('Its servers, tried in order; ldap:// needs startTls, but for a loopback address'),
  startTls: z
    .boolean()
    .optional()
    .describe('Whether nothing is said before the connection is encrypted; default false'),
  caCertificate: PemCertificate.nullable()
    .optional()
    .describe('PEM: who must have signed its certificate; null: one of the known authorities'),
  bindDn: Dn.nullable().optional().describe('As whom the realm asks, with the secret as password; null: as nobody'),
});
export const DirectoryUsers = z.strictObject({
  base: Dn.describe('Below which people are'),
  filter: Filter.optional().describe('Which of them; default (objectClass=person)'),
  scope: z.enum(['one', 'sub']).optional().describe('Directly below it, or anywhere; default sub'),
  attributes: z
    .record(name(255), Attribute)
    .refine((map) => Object.keys(map).length <= 200, 'must have at most 200 entries')
    .optional()
    .describe('username, email, firstName, lastName or an attribute of people → the LDAP attribute that it comes from'),
  uuidAttribute: Attribute.optional().describe(
    'What stays when everything else of somebody changes; default entryUUID, for Active Directory objectGUID',
  ),
  trustEmail: z.boolean().optional().describe('Whether an address from there counts as verified; default false'),
});
export const DirectoryGroups = z.strictObject({
  base: Dn.describe('Below which groups are'),
  filter: Filter.optional().describe('Which of them; default (objectClass=groupOfNames)'),
  nameAttribute: Attribute.optional().describe('Default cn'),
  memberAttribute: Attribute.optional().describe(
    'Which holds its members: their distinguished names, or usernames; default member',
  ),
  nested: z.boolean().optional().describe('Whether who is in a group that is in another is in both; default false'),
  below: text(2000)
    .regex(/^\//, 'must be the path of a group, or /')
    .nullable()
    .optional()
    .describe('The group below which they are made; /: at the top; null: one with the alias of the directory'),
});

export const userFederation = kind({
  section: 'userFederation',
  kind: 'directory',
  one: 'a directory',
  many: 'directories',
  description: 'Directories whose people the realm has',
  key: 'alias',
  at: 'alias',
  problems: ['last-administrator'],
  fields: {
    alias: name(255).describe('Unique in the realm; stands in addresses, and stays'),
    type: z.enum(['ldap']).describe('What it speaks'),
    enabled: z.boolean().describe('Whether it is asked'),
    mode: z
      .enum(['import', 'live'])
      .describe('import: a sync takes all of its people; live: somebody comes with their first sign-in'),
    connection: Connection.describe('Where it is, and as whom it is asked'),
    users: DirectoryUsers.describe('Who its people are'),
    groups: DirectoryGroups.nullable().describe('Which groups they are in; null: none come from there'),
    schedule: z.int().min(0).max(31_536_000).describe('Seconds from one sync to the next; 0: only when asked'),
    pageSize: z.int().min(1).max(5000).describe('Entries that are asked for at once'),
    removed: z.enum(['disable', 'keep']).describe('What becomes of people who are there no more'),
    away: z
      .enum(['refuse', 'lastPassword'])
      .describe(
        'Who signs in while it can’t be asked: nobody, or who knows the last password that it took, of which a hash is kept for that',
      ),
    awaySeconds: z.int().min(60).max(2_592_000).describe('How long ago it took that password at most; default a day'),
  },
  needed: ['connection', 'users'],
  fresh: {
    type: 'ldap',
    enabled: true,
    mode: 'import',
    schedule: 0,
    pageSize: 500,
    removed: 'disable',
    away: 'refuse',
    awaySeconds: 86_400,
  },
  secrets: { secret: text(1024).min(1).describe('The password of bindDn; write-only') },
  most: 100,
  mostInResource: 20,
  form: {
    lead: 'LDAP directories whose people sign in here',
    fields: {
      away: { label: 'While it can’t be asked' },
      awaySeconds: { label: 'Age of the last password' },
      schedule: { label: 'Time between syncs', help: '0: only when asked', widget: 'duration' },
      removed: { label: 'People who are gone' },
    },
  },
  example: {
    alias: 'corporate',
    connection: { urls: ['ldaps://directory.example.com'], bindDn: 'cn=realmkeeper,dc=example,dc=com' },
    users: { base: 'ou=people,dc=example,dc=com', filter: '(objectClass=inetOrgPerson)' },
    secret: 'the password there',
  },
  updateExample: {
    enabled: false,
    mode: 'live',
    connection: {
      urls: ['ldap://a.example.com', 'ldap://b.example.com:1389'],
      startTls: true,
      caCertificate: null,
      bindDn: 'cn=other,dc=example,dc=com',
    },
    users: {
      base: 'dc=example,dc=com',
      filter: '(objectClass=user)',
      scope: 'one',
      attributes: { username: 'sAMAccountName', email: 'mail' },
      uuidAttribute: 'objectGUID',
      trustEmail: true,
    },
    groups: {
      base: 'ou=groups,dc=example,dc=com',
      filter: '(objectClass=group)',
      nameAttribute: 'cn',
      memberAttribute: 'member',
      nested: true,
      below: '/staff',
    },
    schedule: 3600,
    pageSize: 100,
    removed: 'keep',
    away: 'lastPassword',
    awaySeconds: 3600,
    secret: 'another password there',
  },
});
export const {
  list: listDirectories,
  create: createDirectory,
  get: getDirectory,
  put: putDirectory,
  remove: deleteDirectory,
} = userFederation.routes;
