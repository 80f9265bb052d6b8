// An operation of the OpenAPI document beyond its schemas: its name, its callers with their credentials, and every
// possible response. It comes from the contract; contract/oauth.ts describes the protocol's routes.
import { z } from 'zod';
import { type ProblemCode, problems } from '../contract/problem.ts';
import type { Route } from '../contract/route.ts';
import { type ErrorForm, type Principal, surfaces } from '../contract/surface.ts';
import { operationIdOf } from './operation-id.ts';

export const securitySchemes = {
  adminSession: {
    type: 'apiKey',
    in: 'cookie',
    name: 'SVC_ADMIN_SESSION',
    description: 'An administrator’s session, by POST /admin/login',
  },
  session: { type: 'apiKey', in: 'cookie', name: 'SVC_SESSION', description: 'A person’s session in the realm' },
  csrf: {
    type: 'apiKey',
    in: 'header',
    name: 'X-XSRF-TOKEN',
    description:
      'Beside a session’s cookie on whatever writes. Admin API: the value of the cookie XSRF-TOKEN; account: the value that the last GET answered in this header',
  },
  personBearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'An access token of the realm for the person, with the scope account',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An access token for the audience {base_url}/admin: of a client that holds admin roles, or of a person by the client realmctl',
  },
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'An access token of the realm for the person, with the scope openid',
  },
  clientSecret: {
    type: 'http',
    scheme: 'basic',
    description:
      'A client’s id and secret (client_secret_basic). Instead they may stand in the body (client_secret_post), as may a client_assertion (private_key_jwt), or the client_id alone for a client without a secret',
  },
  initialAccessToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'An initial access token, `svc_iat_…`, where the realm asks for one',
  },
  agentToken: { type: 'http', scheme: 'bearer', description: 'A token that an agent was given' },
  transactionToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'An access token of the realm for the person, with the scope transactions',
  },
  protectionToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'An access token of the realm with the scope uma_protection: a client’s own, or a person’s',
  },
  signalsToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An access token of the realm for a client that is a signal receiver, with the scope ssf.manage, or ssf.read for reading',
  },
  deviceProof: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description:
      '`Device` and a JWS by the device’s key: header `{alg, kid, typ: "device+jwt"}`, payload `{aud, iat}` and what the operation asks for; `aud` is the address without its query',
  },
  ownToken: { type: 'http', scheme: 'bearer', description: 'The token that was given out for this alone' },
  registrationAccessToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'The registration_access_token of the client’s last answer',
  },
} as const;

const isWrite = ({ method }: Route): boolean => method !== 'GET';
const hasBody = ({ body }: Route): boolean => !(body instanceof z.ZodUndefined);
const lists = ({ response }: Route): boolean => response instanceof z.ZodArray;
const isOpen = ({ principal }: Route): boolean => principal === 'anonymous';
const isConditional = (route: Route): boolean => isWrite(route) && route.problems.includes('precondition-failed');

function securityOf(route: Route): Record<string, string[]>[] {
  const csrf = isWrite(route) ? { csrf: [] } : {};
  const by: Record<Principal, Record<string, string[]>[]> = {
    administrator: [{ adminSession: [], ...csrf }, { bearer: [] }],
    'admin-session': [{ adminSession: [], ...csrf }],
    person: [...(hasCookie(route) ? [{ session: [], ...csrf }] : []), { personBearer: [] }],
    client: [{ clientSecret: [] }, {}],
    agent: [{ agentToken: [] }],
    device: [{ deviceProof: [] }],
    application: [{ transactionToken: [] }],
    'resource-server': [{ protectionToken: [] }],
    'own-token': [{ ownToken: [] }],
    anonymous: [],
  };
  return by[route.principal];
}
/** Whether the route accepts a session cookie, which browsers send by themselves. SCIM's clients only have tokens. */
const hasCookie = ({ principal, surface }: Route): boolean =>
  surface !== 'scim' && ['administrator', 'admin-session', 'person'].includes(principal);

const Conditions = z.object({
  'if-match': z.string().optional().describe('An ETag of this resource: 412 where it has changed since'),
});

const FRESH =
  'Needs a sign-in of the last five minutes, with a second factor of whoever has one: else 401 `reauthentication-required`, whose `WWW-Authenticate` says `max_age` and `acr_values` (RFC 9470).';

/** The fields that the contract adds to Fastify's schema of a route. */
export function operationOf(route: Route) {
  const { description, permission, status, reach } = route;
  const within = reach ? ' It can be held for single groups or clients.' : '';
  const needs = permission === null ? '' : `Needs the permission \`${permission}\`.${within}`;
  const freshly = route.fresh ? FRESH : '';
  const text = [description, needs, freshly].filter(Boolean).join('\n\n');
  return {
    operationId: operationIdOf({ ...route, lists: lists(route), creates: status === 201, hasBody: hasBody(route) }),
    security: securityOf(route),
    ...(text === '' ? {} : { description: text }),
    ...(isConditional(route) ? { headers: Conditions } : {}),
  };
}

/** Problem codes that follow from the kind of route. */
function impliedProblems(route: Route): ProblemCode[] {
  return [
    'invalid-request',
    ...(isOpen(route) ? [] : (['unauthenticated'] as const)),
    ...(route.principal === 'administrator' ? (['step-up-required'] as const) : []),
    ...(route.permission === null ? [] : (['forbidden'] as const)),
    ...(route.fresh ? (['reauthentication-required'] as const) : []),
    ...(route.principal === 'person' || route.principal === 'application' ? (['insufficient-scope'] as const) : []),
    ...(isWrite(route) && hasCookie(route) ? (['csrf-mismatch'] as const) : []),
    ...(route.path.includes('/:realm') ? (['not-found'] as const) : []),
    ...(hasBody(route) ? (['too-large', 'unsupported-media-type'] as const) : []),
  ];
}

export type Responses = Record<string, unknown>;

const words = { 200: 'Done', 201: 'Made', 202: 'Accepted; it is done later', 204: 'Done; there is nothing to say' };
/** Describes responses for which only the status is known. */
export const inWords = (printed: Responses): Responses =>
  Object.fromEntries(
    Object.entries(printed).map(([status, answer]) => {
      const description = Object.entries(words).find(([code]) => code === status)?.[1];
      return [status, { ...Object(answer), ...(isPlain(answer) && description !== undefined && { description }) }];
    }),
  );
/** Whether the description is @fastify/swagger's default. */
const isPlain = (answer: unknown): boolean => Object(answer).description === 'Default Response';
const text = (description: string) => ({ schema: { type: 'string' }, description });
const PAGING = {
  Link: text('`rel="next"`: the next page, where there is one'),
  'X-Total-Count': text('How many rows there are, where counting is cheap'),
};
const ETAG = { ETag: text('For If-Match and If-None-Match') };
const SCIM_JSON = 'application/scim+json';
const schema = (name: string) => ({ schema: { $ref: `#/components/schemas/${name}` } });
/** The forms of a surface's problems. OAuth's routes describe their errors themselves. */
const forms = {
  problem: { prefix: '', content: { 'application/problem+json': schema('ProblemDetails') } },
  scim: { prefix: 'Scim', content: { [SCIM_JSON]: schema('ScimError') } },
  oauth: undefined,
} as const satisfies Record<ErrorForm, Form | undefined>;
interface Form {
  prefix: string;
  content: object;
}
/** SCIM's resources have a media type of their own. */
function inForm(answer: unknown, errors: ErrorForm): object {
  const { content, ...rest } = Object(answer);
  if (errors !== 'scim' || content === undefined) return Object(answer);
  return { ...rest, content: { [SCIM_JSON]: content['application/json'] } };
}

const nameOf = (code: string): string => code.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());

/**
 * Every response of a route by status; those of problems are shared.
 * @param printed the responses from the schemas
 * @param shared receives the entries of `components.responses`
 */
export function answersOf(route: Route, printed: Responses, shared: Responses): Responses {
  const { errors } = surfaces[route.surface];
  const form = forms[errors];
  if (!form) return printed;
  const byStatus = Map.groupBy(
    new Set([...impliedProblems(route), ...route.problems].sort()),
    (code) => problems[code].status,
  );
  const refused = [...byStatus].map(([status, codes]) => [status, { $ref: share(shared, codes, form) }]);
  const other = `${form.prefix}Problem`;
  shared[other] = { description: 'Any other problem: `internal` (500), `unavailable` (503)', content: form.content };
  const headers = lists(route) ? PAGING : isWrite(route) || route.status === 204 ? {} : ETAG;
  const unchanged = headers === ETAG ? { 304: { description: 'It is what If-None-Match names' } } : {};
  return {
    [route.status]: {
      ...inForm(printed[route.status], errors),
      ...(Object.keys(headers).length > 0 && { headers }),
    },
    ...(route.mayTakeLonger && { 202: inForm(printed[202], errors) }),
    ...(route.mayBeEmpty && { 204: printed[204] }),
    ...unchanged,
    ...Object.fromEntries(refused),
    default: { $ref: `#/components/responses/${other}` },
  };
}

function share(shared: Responses, codes: readonly ProblemCode[], { prefix, content }: Form): string {
  const name = prefix + codes.map(nameOf).join('Or');
  shared[name] = {
    description: codes.map((code) => `\`${code}\`: ${problems[code].title}`).join('; '),
    ...(codes.includes('too-many-requests') && { headers: { 'Retry-After': text('Seconds') } }),
    content,
  };
  return `#/components/responses/${name}`;
}
