// Organizations: companies and the like whose users share the realm. Decisions "Organization"; specification 4.10.
import { z } from 'zod';
import { type AnswerOf, kind } from './kind.ts';
import { Attributes, ById, EpochMs, Id, name, Page, RealmName, text } from './names.ts';
import { route } from './route.ts';

/** In DNS's form, so that each domain has one spelling. */
export const DomainName = z
  .string()
  .max(253)
  .regex(
    /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
    'must be a domain name in lower case, an international one in its xn-- form',
  )
  .meta({ examples: ['acme.example'] });

const Domain = z.strictObject({
  name: DomainName.describe('In lower case; an international one in its xn-- form'),
  verified: z
    .boolean()
    .optional()
    .describe('That it is the organization’s: by its DNS record, or by an administrator’s word. Default false'),
});

export const organizations = kind({
  section: 'organizations',
  kind: 'organization',
  one: 'an organization',
  many: 'organizations',
  description: 'Organizations; who belongs to them is run-time data',
  key: 'name',
  fields: {
    name: name(255).describe('Unique in the realm'),
    displayName: text(255).nullable().describe('What people see'),
    enabled: z.boolean().describe('false: it counts for nothing at sign-in, and no claim names it'),
    domains: z
      .array(Domain)
      .max(100)
      .refine((all) => new Set(all.map((d) => d.name)).size === all.length, 'must not name a domain twice')
      .describe('A verified one belongs to one organization of the realm'),
    identityProviders: z.array(name(255)).max(100).describe('Aliases of those that its people sign in with'),
    attributes: Attributes,
  },
  fresh: { enabled: true },
  names: { identityProviders: 'identityProvider' },
  answered: { domains: z.array(z.object({ name: z.string(), verified: z.boolean() })), createdAt: EpochMs },
  inDocument: {
    members: z.array(name(255)).max(100_000).describe('Usernames, as they are written there; exported where users are'),
  },
  people: ['members'],
  namedLists: { domains: 'name' },
  searches: ['name', 'displayName'],
  most: 50_000,
  mostInResource: 1000,
  problems: ['privilege-escalation'],
  describe: { list: 'List or search organizations', remove: 'Delete an organization; its members stay as users' },
  form: { lead: 'Companies and teams, with their domains, members and ways to sign in' },
  example: {
    name: 'acme',
    displayName: 'Acme Ltd',
    domains: [{ name: 'acme.example', verified: false }],
    attributes: { plan: ['gold'] },
  },
  updateExample: {
    displayName: 'Acme Incorporated',
    enabled: false,
    domains: [{ name: 'b.example' }, { name: 'a.example', verified: false }],
    attributes: { plan: ['silver'] },
  },
  cli: {
    help: 'companies and their like, with their domains',
    shown: ['enabled', 'domains', 'displayName'],
    heads: { displayName: 'NAME', identityProviders: 'SIGNS IN BY', createdAt: 'CREATED' },
  },
});
export const Organization = organizations.wire;
export type Organization = AnswerOf<typeof organizations>;
export const {
  list: listOrganizations,
  create: createOrganization,
  get: getOrganization,
  put: putOrganization,
  remove: deleteOrganization,
} = organizations.routes;

const tag = 'organizations';
const at = '/admin/realms/:realm/organizations/:id' as const;
const Member = z.strictObject({ realm: RealmName, id: Id, userId: Id });

export const OrganizationMember = z
  .object({
    id: Id.describe('Of the user'),
    username: z.string(),
    email: z.string().nullable(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    enabled: z.boolean(),
    joinedAt: EpochMs,
  })
  .meta({ id: 'OrganizationMember' });
export type OrganizationMember = z.infer<typeof OrganizationMember>;

export const listMembers = route({
  method: 'GET',
  path: `${at}/members`,
  tag,
  summary: 'List the members of an organization by username',
  permission: 'organizations:read',
  params: ById,
  query: Page,
  response: z.array(OrganizationMember),
  problems: ['not-found'],
});
export const UserOrganization = z
  .object({
    id: Id.describe('Of the organization'),
    name: z.string(),
    displayName: z.string().nullable(),
    enabled: z.boolean(),
    joinedAt: EpochMs,
  })
  .meta({ id: 'UserOrganization' });
export type UserOrganization = z.infer<typeof UserOrganization>;
export const listUserOrganizations = route({
  method: 'GET',
  path: '/admin/realms/:realm/users/:userId/organizations',
  tag,
  summary: 'List the organizations of which a user is a member, by name',
  permission: 'organizations:read',
  params: z.strictObject({ realm: RealmName, userId: Id }),
  query: Page,
  response: z.array(UserOrganization),
  problems: ['not-found'],
});
export const addMember = route({
  method: 'PUT',
  path: `${at}/members/:userId`,
  tag,
  summary: 'Make a user a member; nothing changes for who is one already',
  permission: 'organizations:write',
  params: Member,
  status: 204,
  problems: ['not-found'],
});
export const removeMember = route({
  method: 'DELETE',
  path: `${at}/members/:userId`,
  operationId: 'removeOrganizationMember',
  tag,
  summary: 'Take a member out of an organization; the user stays',
  permission: 'organizations:write',
  params: Member,
  status: 204,
  problems: ['not-found'],
});

export const DomainVerification = z
  .object({
    name: z.string(),
    verified: z.boolean(),
    record: z
      .object({ type: z.literal('TXT'), name: z.string(), value: z.string() })
      .describe('What the domain’s DNS must hold'),
    problem: z.string().nullable().describe('Why it is not verified'),
  })
  .meta({ id: 'DomainVerification' });
export type DomainVerification = z.infer<typeof DomainVerification>;
export const verifyDomain = route({
  method: 'POST',
  path: `${at}/domains/:domain/verify`,
  tag,
  summary: 'Verify a domain of an organization by its DNS record',
  description:
    'Looks up the TXT records of the domain. Where the expected one is missing the domain stays as it is, and the answer ' +
    'says which record that is: add it, and ask again.',
  permission: 'organizations:write',
  params: z.strictObject({ realm: RealmName, id: Id, domain: DomainName }),
  response: DomainVerification,
  problems: ['not-found', 'name-taken'],
});
