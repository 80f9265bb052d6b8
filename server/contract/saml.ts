// The SAML 2.0 identity provider's endpoints as documents, for OpenAPI. Messages are parsed by the rules of their bindings
// (features/protocol/saml), not by these schemas. Specification 4.11; decisions "SAML".
import { z } from 'zod';
import { InRealm } from './names.ts';
import { OAuthErrorBody } from './oauth.ts';
import { servedTo } from './surface.ts';

const at = '/realms/:realm/saml/idp' as const;
const parameter = z.string().optional();
const RelayState = parameter.describe('At most 1,024 bytes; given back as it is');
const RedirectParameters = z.object({
  SAMLRequest: parameter.describe('The request: deflated, in base64'),
  RelayState,
  SigAlg: parameter.describe('RSA with SHA-256 or SHA-512'),
  Signature: parameter,
});
const PostParameters = z.object({ SAMLRequest: parameter.describe('The request, in base64'), RelayState });
const html = (description: string) => ({ description, content: { 'text/html': { schema: z.string() } } });
const page = {
  200: html('A page that posts the response to the service provider'),
  303: z.null().describe('On to the sign-in'),
  400: html('A page: the request is wrong, and nobody is known to whom that could be told'),
  404: html('A page: there is no such realm'),
  default: html('A page: `slow_down` (429), `server_error` (500), `temporarily_unavailable` (503)'),
};
const base = { tags: ['saml'], params: InRealm, security: [] as { [scheme: string]: string[] }[] };

export const samlMetadataRoute = {
  method: 'GET',
  url: `${at}/metadata`,
  config: servedTo('anonymous'),
  schema: {
    ...base,
    operationId: 'getSamlMetadata',
    summary: 'The identity provider’s metadata, signed',
    description:
      'The certificate of the key that signs comes first, those of retained keys behind it. Service providers read it live.',
    response: {
      200: { description: 'Metadata', content: { 'application/samlmetadata+xml': { schema: z.string() } } },
      404: OAuthErrorBody.describe('There is no such realm'),
      default: OAuthErrorBody.describe('`server_error` (500), `temporarily_unavailable` (503)'),
    },
  },
} as const;
export const samlSignOnRoute = {
  method: 'GET',
  url: `${at}/sso`,
  config: servedTo('anonymous'),
  schema: {
    ...base,
    operationId: 'samlSignOn',
    summary: 'Single sign-on by the Redirect binding',
    description:
      'The response goes to one of the client’s assertion consumer services, by POST. A request of an unknown client, or without the signature that it needs, gets a page.',
    querystring: RedirectParameters,
    response: page,
  },
} as const;
export const samlSignOnPostRoute = {
  method: 'POST',
  url: `${at}/sso`,
  config: servedTo('anonymous'),
  schema: {
    ...base,
    operationId: 'samlSignOnByPost',
    summary: 'Single sign-on by the POST binding',
    consumes: ['application/x-www-form-urlencoded'],
    body: PostParameters,
    response: page,
  },
} as const;
const LogoutParameters = { SAMLResponse: parameter.describe('The answer to a request of the identity provider’s') };
const logoutPage = {
  ...page,
  200: html('A page that posts a message to a service provider, or leads on'),
  303: z.null().describe('On to a service provider, or to where it began'),
};
export const samlLogoutRoute = {
  method: 'GET',
  url: `${at}/slo`,
  config: servedTo('anonymous'),
  schema: {
    ...base,
    operationId: 'samlLogout',
    summary: 'Single logout by the Redirect binding',
    description:
      'A request must be signed. It ends the sessions that it names, with their tokens; every other service provider of theirs is told, one after the other, and then the one that asked.',
    querystring: RedirectParameters.extend(LogoutParameters),
    response: logoutPage,
  },
} as const;
export const samlLogoutPostRoute = {
  method: 'POST',
  url: `${at}/slo`,
  config: servedTo('anonymous'),
  schema: {
    ...base,
    operationId: 'samlLogoutByPost',
    summary: 'Single logout by the POST binding',
    consumes: ['application/x-www-form-urlencoded'],
    body: PostParameters.extend(LogoutParameters),
    response: logoutPage,
  },
} as const;
export const samlInitiateRoute = {
  method: 'GET',
  url: `${at}/initiate`,
  config: servedTo('anonymous'),
  schema: {
    ...base,
    operationId: 'samlInitiate',
    summary: 'Single sign-on without a request of the service provider, where the client allows it',
    querystring: z.object({ entityId: z.string(), RelayState }),
    response: page,
  },
} as const;
