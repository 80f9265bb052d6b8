// The realm's SCIM server: users and groups managed by another system. RFC 7643, RFC 7644, RFC 9865 (cursors).
// contract/scim-tokens.ts has its tokens; contract/scim-targets.ts the servers to which the realm provisions.
// Specification 4.11.

import { z } from 'zod';
import { RealmName, text } from './names.ts';
import { route } from './route.ts';
import { ScimError } from './scim-error.ts';
import { inCase, wholeNumber } from './scim-input.ts';

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
export const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const BULK = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';
export const BULK_RESPONSE = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse';

export const ScimResource = z
  .looseObject({ schemas: z.array(z.string()).optional(), id: z.string().optional() })
  .describe('By the schemas of GET /Schemas')
  .meta({ id: 'ScimResource' });
export type ScimResource = z.infer<typeof ScimResource>;

export const ScimList = z
  .object({
    schemas: z.array(z.string()),
    totalResults: z.int().optional().describe('Left out behind the first page of cursors'),
    itemsPerPage: z.int(),
    startIndex: z.int().optional(),
    nextCursor: z.string().optional().describe('For the next page, where cursors are used and there is one'),
    Resources: z.array(ScimResource).optional(),
  })
  .meta({ id: 'ScimList' });
export type ScimList = z.infer<typeof ScimList>;

const tag = 'scim';
const at = '/realms/:realm/scim/v2' as const;
const InRealm = z.strictObject({ realm: RealmName });
const ById = z.strictObject({ realm: RealmName, id: z.string() });
const own = { tag, surface: 'scim', principal: 'own-token', permission: null } as const;

const names = text(4000).optional();
export const ScimProjection = z.object({
  attributes: names.describe('Which attributes are answered, separated by commas'),
  excludedAttributes: names.describe('Which are left out'),
});
const asked = {
  filter: text(8000).optional().describe('RFC 7644 §3.4.2.2'),
  sortBy: text(400).optional(),
  sortOrder: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['ascending', 'descending']))
    .optional(),
  startIndex: wholeNumber.describe('From 1; not beside cursor'),
  count: wholeNumber.describe('At most so many; by default 100, and never more than 1000'),
  cursor: text(2000).optional().describe('Empty: the first page by cursors (RFC 9865)'),
};
export const ScimQuery = ScimProjection.extend(asked);
export type ScimQuery = z.output<typeof ScimQuery>;
const list = z.array(text(400)).max(200).optional();
export const ScimSearch = z
  .preprocess(
    inCase(['schemas', 'attributes', 'excludedAttributes', ...Object.keys(asked)]),
    z.object({
      schemas: z.array(z.string()).optional(),
      ...asked,
      attributes: list,
      excludedAttributes: list,
    }),
  )
  .meta({ id: 'ScimSearch' });

const Body = z.looseObject({}).describe('By the schemas of GET /Schemas');
export const ScimOperation = z.preprocess(
  inCase(['op', 'path', 'value'], ['value']),
  z.object({
    op: z
      .string()
      .toLowerCase()
      .pipe(z.enum(['add', 'replace', 'remove'])),
    path: text(8000).optional(),
    value: z.unknown().optional(),
  }),
);
export const ScimPatch = z
  .preprocess(
    inCase(['schemas', 'Operations']),
    z.object({ schemas: z.array(z.string()).optional(), Operations: z.array(ScimOperation).min(1).max(1000) }),
  )
  .meta({ id: 'ScimPatch' });

const MOST_OPERATIONS = 1000;
export const scimLimits = { operations: MOST_OPERATIONS, payloadBytes: 1024 * 1024, page: 100, mostOnAPage: 1000 };

const BulkOperation = z.preprocess(
  inCase(['method', 'bulkId', 'version', 'path', 'data']),
  z.object({
    method: z
      .string()
      .toUpperCase()
      .pipe(z.enum(['POST', 'PUT', 'PATCH', 'DELETE'])),
    bulkId: text(255).min(1).optional(),
    version: text(255).optional(),
    path: text(400),
    data: z.record(z.string(), z.unknown()).optional(),
  }),
);
export const ScimBulk = z
  .preprocess(
    inCase(['schemas', 'failOnErrors', 'Operations']),
    z.object({
      schemas: z.array(z.string()).optional(),
      failOnErrors: z.int().min(1).optional().describe('After so many errors the rest is not tried'),
      // the handler answers 413 above MOST_OPERATIONS; this limit only bounds the parsing
      Operations: z.array(BulkOperation).max(10 * MOST_OPERATIONS),
    }),
  )
  .meta({ id: 'ScimBulk' });
export type ScimBulk = z.output<typeof ScimBulk>;

export const ScimBulkResponse = z
  .object({
    schemas: z.array(z.string()),
    Operations: z.array(
      z.object({
        method: z.string(),
        bulkId: z.string().optional(),
        version: z.string().optional(),
        location: z.string().optional(),
        status: z.string(),
        response: ScimError.optional(),
      }),
    ),
  })
  .meta({ id: 'ScimBulkResponse' });
export type ScimBulkResponse = z.infer<typeof ScimBulkResponse>;

const conditional = ['not-found', 'name-taken', 'privilege-escalation', 'precondition-failed'] as const;

/** The routes that users and groups have in common. */
const routesOf = (name: 'Users' | 'Groups', one: string, example: Record<string, unknown>) => {
  const singular = name.slice(0, -1);
  const more = name === 'Groups' ? (['declared-only'] as const) : [];
  return {
    list: route({
      ...own,
      method: 'GET',
      path: `${at}/${name}`,
      operationId: `listScim${name}`,
      summary: `List ${name.toLowerCase()}, filtered, sorted, page by page`,
      params: InRealm,
      query: ScimQuery,
      response: ScimList,
    }),
    search: route({
      ...own,
      method: 'POST',
      path: `${at}/${name}/.search`,
      operationId: `searchScim${name}`,
      summary: `The same by POST, so that no address tells what is looked for`,
      params: InRealm,
      body: ScimSearch,
      example: { filter: 'meta.lastModified gt "2026-01-01T00:00:00Z"', count: 100 },
      response: ScimList,
      recordsNothing: true,
    }),
    create: route({
      ...own,
      method: 'POST',
      path: `${at}/${name}`,
      operationId: `createScim${singular}`,
      summary: `Create ${one}`,
      params: InRealm,
      query: ScimProjection,
      body: Body,
      example,
      status: 201,
      response: ScimResource,
      problems: ['name-taken', ...more],
    }),
    get: route({
      ...own,
      method: 'GET',
      path: `${at}/${name}/:id`,
      operationId: `getScim${singular}`,
      summary: `Read ${one}`,
      params: ById,
      query: ScimProjection,
      response: ScimResource,
      problems: ['not-found'],
    }),
    put: route({
      ...own,
      method: 'PUT',
      path: `${at}/${name}/:id`,
      operationId: `replaceScim${singular}`,
      summary: `Replace ${one}: what is left out is taken away, but for \`active\`, \`password\` and \`roles\``,
      params: ById,
      query: ScimProjection,
      body: Body,
      example,
      response: ScimResource,
      problems: [...conditional, ...more],
    }),
    patch: route({
      ...own,
      method: 'PATCH',
      path: `${at}/${name}/:id`,
      operationId: `patchScim${singular}`,
      summary: `Change ${one} (RFC 7644 §3.5.2)`,
      params: ById,
      query: ScimProjection,
      // A group may have many members, so a response has them only on request.
      mayBeEmpty: name === 'Groups',
      body: ScimPatch,
      example: { schemas: [PATCH], Operations: [{ op: 'replace', path: 'externalId', value: '4711' }] },
      response: ScimResource,
      problems: [...conditional, ...more],
    }),
    remove: route({
      ...own,
      method: 'DELETE',
      path: `${at}/${name}/:id`,
      operationId: `deleteScim${singular}`,
      summary: `Delete ${one}`,
      params: ById,
      status: 204,
      problems: [...conditional, ...more],
    }),
  };
};

export const scimUsers = routesOf('Users', 'a user', {
  schemas: [USER],
  userName: 'bob@example.com',
  name: { givenName: 'Bob', familyName: 'Builder' },
  emails: [{ value: 'bob@example.com', type: 'work', primary: true }],
  active: true,
});
export const scimGroups = routesOf('Groups', 'a group', { schemas: [GROUP], displayName: 'Sales' });
export const {
  list: listScimUsers,
  search: searchScimUsers,
  create: createScimUser,
  get: getScimUser,
  put: putScimUser,
  patch: patchScimUser,
  remove: deleteScimUser,
} = scimUsers;
export const {
  list: listScimGroups,
  search: searchScimGroups,
  create: createScimGroup,
  get: getScimGroup,
  put: putScimGroup,
  patch: patchScimGroup,
  remove: deleteScimGroup,
} = scimGroups;

export const searchScim = route({
  ...own,
  method: 'POST',
  path: `${at}/.search`,
  operationId: 'searchScim',
  summary: 'Look for people and groups at once, by pages of an index; people come first',
  params: InRealm,
  body: ScimSearch,
  example: { filter: 'externalId eq "4711"' },
  response: ScimList,
  recordsNothing: true,
});
export const postScimBulk = route({
  ...own,
  method: 'POST',
  path: `${at}/Bulk`,
  operationId: 'bulkScim',
  summary: 'Several writes, one after the other (RFC 7644 §3.7)',
  description:
    'Each is a transaction of its own. `bulkId:NAME` stands for the id of what an operation of this request made, in `data` and in `path`; what is named is made first.',
  params: InRealm,
  body: ScimBulk,
  example: {
    schemas: [BULK],
    failOnErrors: 1,
    Operations: [
      { method: 'POST', path: '/Users', bulkId: 'ann', data: { userName: 'ann@example.com' } },
      { method: 'POST', path: '/Groups', data: { displayName: 'Sales', members: [{ value: 'bulkId:ann' }] } },
    ],
  },
  response: ScimBulkResponse,
  problems: ['too-large'],
});
export const getScimMe = route({
  ...own,
  principal: 'person',
  method: 'GET',
  path: `${at}/Me`,
  operationId: 'getScimMe',
  summary: 'The person’s own user, as the realm’s user profile lets people see it',
  description: 'For an access token of the realm with the scope `account`; a SCIM token is nobody.',
  params: InRealm,
  query: ScimProjection,
  response: ScimResource,
  problems: ['not-found'],
});

const ownWrites = {
  ...own,
  principal: 'person',
  path: `${at}/Me`,
  fresh: true,
  params: InRealm,
  query: ScimProjection,
  response: ScimResource,
  problems: ['not-found', 'precondition-failed'],
} as const;
export const putScimMe = route({
  ...ownWrites,
  method: 'PUT',
  operationId: 'replaceScimMe',
  summary: 'Replace what the person may change of their own user: names and attributes, as by the account API',
  description: 'What isn’t theirs to change may be left out, and stays; said otherwise than it is, it is refused.',
  body: Body,
  example: { schemas: [USER], userName: 'bob@example.com', name: { givenName: 'Robert', familyName: 'Builder' } },
});
export const patchScimMe = route({
  ...ownWrites,
  method: 'PATCH',
  operationId: 'patchScimMe',
  summary: 'Change single attributes of the person’s own user',
  body: ScimPatch,
  example: { schemas: [PATCH], Operations: [{ op: 'replace', path: 'name.givenName', value: 'Robert' }] },
});

/** RFC 7644 §4: paging, sorting and projections are ignored here; the surface refuses a filter. */
const Ignored = z.looseObject({}).describe('Ignored, but for `filter`, which is refused (RFC 7644 §4)');
const discovered = (name: string, operationId: string, summary: string) =>
  route({
    ...own,
    method: 'GET',
    path: `${at}/${name}`,
    operationId,
    summary,
    params: InRealm,
    query: Ignored,
    response: z.looseObject({}),
    problems: ['forbidden'],
  });
const discoveredOne = (name: string, operationId: string, summary: string) =>
  route({
    ...own,
    method: 'GET',
    path: `${at}/${name}/:id`,
    operationId,
    summary,
    params: ById,
    query: Ignored,
    response: z.looseObject({}),
    problems: ['not-found', 'forbidden'],
  });
export const getScimConfig = discovered('ServiceProviderConfig', 'getScimConfig', 'What this SCIM server does');
export const listScimSchemas = discovered('Schemas', 'listScimSchemas', 'The attributes of each kind of resource');
export const getScimSchema = discoveredOne('Schemas', 'getScimSchema', 'One schema, by its URN');
export const listScimResourceTypes = discovered('ResourceTypes', 'listScimResourceTypes', 'The kinds of resources');
export const getScimResourceType = discoveredOne('ResourceTypes', 'getScimResourceType', 'One kind of resource');
