// User-Managed Access 2.0 for resource servers: registering users' resources, requesting permissions. Federated
// Authorization for UMA 2.0 §3, §4. uma-configuration.ts has its discovery; oauth.ts the grant's own parameters.
import { z } from 'zod';
import { InRealm, name, RealmName, text } from './names.ts';
import { OAuthErrorBody } from './oauth.ts';
import { servedTo } from './surface.ts';

const tag = 'authorization-services';
const at = '/realms/:realm/authz/protection' as const;

const Scopes = z.array(name()).max(200);
const label = text(255).min(1);
export const ResourceDescription = z.object({
  resource_scopes: Scopes.describe('What can be done with it'),
  name: label.optional().describe('To people'),
  description: text(2000).optional(),
  type: name().optional().describe('What a permission can name in place of single resources'),
  icon_uri: text(2048).optional(),
  uris: z.array(text(2048)).max(100).optional().describe('Where it is found'),
  owner: name()
    .optional()
    .describe(
      'The username of whoever owns it, where the resource server registers for itself; else whose token it is',
    ),
});
export type ResourceDescription = z.infer<typeof ResourceDescription>;

const Wanted = z.object({ resource_id: text(255).min(1), resource_scopes: Scopes.default([]) });
const Claims = z.record(name(), z.array(text(4096)).max(100));
const Request = Wanted.extend({
  claims: Claims.optional().describe(
    'What the resource server says of the request, for policies of the type attribute',
  ),
});
export const PermissionRequest = z.union([Request, z.array(Request).min(1).max(100)]);
export type PermissionRequest = z.infer<typeof PermissionRequest>;

const Registered = z.object({
  _id: z.string(),
  user_access_policy_uri: z.string().describe('Where its owner says who may use it'),
});
const Description = ResourceDescription.extend({ _id: z.string() }).meta({ id: 'UmaResource' });

const failures = {
  400: OAuthErrorBody.describe('`invalid_request`, `invalid_resource_id`, `invalid_scope`'),
  401: OAuthErrorBody.describe('`invalid_token`; see WWW-Authenticate'),
  403: OAuthErrorBody.describe(
    '`insufficient_scope`: the token has no scope uma_protection; `access_denied`: it may not',
  ),
  404: OAuthErrorBody.describe('`not_found`: there is no such realm, or no such resource of the token’s'),
  default: OAuthErrorBody.describe('`server_error` (500), `temporarily_unavailable` (503)'),
};
const example = {
  name: 'Holiday',
  type: 'album',
  icon_uri: 'https://albums.example.com/icon.png',
  resource_scopes: ['view', 'edit'],
};
const base = { tags: [tag], security: [{ protectionToken: [] }] };
const all = { ...base, params: InRealm };
const one = { ...base, params: z.object({ realm: RealmName, id: z.string() }) };
const config = servedTo('resource-server');

export const listRegisteredRoute = {
  method: 'GET',
  url: `${at}/resource_set`,
  config,
  schema: {
    ...all,
    operationId: 'listRegisteredResources',
    summary: 'The ids of the resources that the token’s client registered, of the person whose token it is',
    querystring: z.object({ name: z.string().optional() }),
    response: { 200: z.array(z.string()), ...failures },
  },
} as const;
export const registerResourceRoute = {
  method: 'POST',
  url: `${at}/resource_set`,
  config,
  schema: {
    ...all,
    operationId: 'registerResource',
    summary: 'Register a resource (Federated Authorization for UMA 2.0 §3.2.1)',
    description:
      'With an access token that has the scope `uma_protection`: a person’s, who then owns the resource, or the client’s own. The client’s authorization services have `remoteResources`.',
    consumes: ['application/json'],
    body: ResourceDescription.meta({ examples: [example] }),
    response: { 201: Registered, ...failures },
  },
} as const;
export const readRegisteredRoute = {
  method: 'GET',
  url: `${at}/resource_set/:id`,
  config,
  schema: {
    ...one,
    operationId: 'getRegisteredResource',
    summary: 'Read a registered resource',
    response: { 200: Description, ...failures },
  },
} as const;
export const updateRegisteredRoute = {
  method: 'PUT',
  url: `${at}/resource_set/:id`,
  config,
  schema: {
    ...one,
    operationId: 'updateRegisteredResource',
    summary: 'Replace the description of a registered resource; its owner stays',
    consumes: ['application/json'],
    body: ResourceDescription.meta({ examples: [example] }),
    response: { 200: Registered, ...failures },
  },
} as const;
export const deleteRegisteredRoute = {
  method: 'DELETE',
  url: `${at}/resource_set/:id`,
  config,
  schema: {
    ...one,
    operationId: 'deleteRegisteredResource',
    summary: 'Delete a registered resource, with whatever its owner shared of it',
    response: { 204: z.null(), ...failures },
  },
} as const;
export const requestPermissionRoute = {
  method: 'POST',
  url: `${at}/permission`,
  config,
  schema: {
    ...all,
    operationId: 'requestPermission',
    summary: 'A ticket for a client that was refused (Federated Authorization for UMA 2.0 §4)',
    description: 'It is good once, for five minutes, at the token endpoint of this realm.',
    consumes: ['application/json'],
    body: PermissionRequest.meta({ examples: [{ resource_id: 'holiday', resource_scopes: ['view'] }] }),
    response: { 201: z.object({ ticket: z.string() }), ...failures },
  },
} as const;
