// Checks an authorization request by an ordered list of small named checks. Until the client and its redirect URI are
// known, an error is shown on a page; after that the browser takes it back to the application. RFC 6749 §4.1.2.1, OIDC
// Core §3.1.2.2.
import { CIBA, DEVICE_CODE } from '../../../contract/oauth.ts';
import { isChallenge } from '../../../crypto/pkce.ts';
import type { Agreement } from '../../../domain/agreement.ts';
import type { AskedDetail } from '../../../domain/authorization-details.ts';
import { audiencesOf, isAskedFor, offeredTo, personalClaims, type ScopeView } from '../../../domain/claims.ts';
import { type AskedClaims, claimsRequest, offeredClaims } from '../../../domain/claims-request.ts';
import { ADMIN_MAX_MS } from '../../../domain/principal.ts';
import { isRedirectOf } from '../../../domain/redirect-uri.ts';
import { allowedResources } from '../../../domain/resource-indicators.ts';
import { grantScopes, OFFLINE, OPENID, scopeNames, strangersAmong } from '../../../domain/scopes.ts';
import type { Form } from '../../../http/form.ts';
import { OAuthError, type OAuthErrorCode } from '../../../http/oauth-error.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import { defaultMode, isJwtMode, type ResponseMode, responseModeOf, responseModes } from './response-modes.ts';

const PROMPTS = ['none', 'login', 'consent', 'select_account', 'create'] as const;
export type Prompt = (typeof PROMPTS)[number];

/** The target of a response, whether it is a code or an error. */
export interface Target {
  client: ClientView;
  redirectUri: string;
  responseMode: ResponseMode;
  state: string | undefined;
}

/** A request that passed every check. */
export interface AuthorizationRequest extends Target {
  /** The unparsed parameters: a sign-in stores them, and they are checked again after it. */
  text: string;
  openid: boolean;
  scopes: readonly ScopeView[];
  resources: readonly string[];
  nonce: string | undefined;
  /** The thumbprint of the key that must be proven for the code (RFC 9449 §10). */
  dpopJkt: string | undefined;
  codeChallenge: string | null;
  prompt: ReadonlySet<Prompt>;
  maxAgeSeconds: number | undefined;
  requiredLevel: number;
  /** The claims that the request names and the client may have; undefined: none. */
  claims: AskedClaims | undefined;
  /** The subject of the user whom the request must concern. */
  sub: string | undefined;
  /** The scopes that a user consents to: the requested ones, and those that contain requested claims. */
  scopesToAgree: readonly ScopeView[];
  /** All that a user consents to. */
  toAgree: Agreement;
  /** The details of a rich authorization request, which users agree to each time (RFC 9396). */
  details: readonly AskedDetail[];
  /** The token will carry the user's own admin rights. */
  administers: boolean;
  loginHint: string | undefined;
  /** The identity provider at which users should sign in. Keycloak's applications send it by this name. */
  providerHint: string | undefined;
  idTokenHint: string | undefined;
  /** The digest of the request_uri, if the application has pushed the request. */
  pushed: Buffer | undefined;
}

export interface CheckContext {
  form: Form;
  client: ClientView;
  pushed: Buffer | undefined;
  signed: boolean;
  mustBePushed: boolean;
  realmList: readonly string[];
  adminAudience: string;
  /** The authentication levels that sign-ins in this realm can reach. */
  levels: readonly number[];
  /** The requested scopes that the realm doesn't have. */
  unknownScopes: ReadonlySet<string>;
}

type Request = { -readonly [K in keyof AuthorizationRequest]: AuthorizationRequest[K] };
type Check = (request: Request, context: CheckContext) => void;

const bad = (description: string, error: OAuthErrorCode = 'invalid_request') => new OAuthError(error, description);

/** @throws OAuthError to show on a page: no valid redirect URI is known yet */
export function targetOf(form: Form, client: ClientView | undefined): Target {
  if (form.get('client_id') === undefined) throw bad('client_id is missing');
  if (!client?.enabled) throw bad('The application is not known here');
  // The redirect URI within a request object that may be refused: it is not trusted, but if it is one of the client's
  // own, the error may go there.
  const inside = requestObject(form.get('request'));
  const said = (name: string): string | undefined => inside(name) ?? form.get(name);
  const redirectUri = said('redirect_uri');
  const nowhere = (description: string) => new OAuthError('invalid_request', description, { page: { back: client } });
  if (redirectUri === undefined) throw nowhere('redirect_uri is missing');
  if (!isRedirectOf(client.redirectUris, redirectUri))
    throw nowhere('The redirect_uri is not one that the application has registered');
  const responseMode = targetMode(client, said('response_mode'));
  return { client, redirectUri, responseMode, state: said('state') };
}

/** Errors too reach an application only in the form that it is held to. */
function targetMode(client: ClientView, named: string | undefined): ResponseMode {
  const mode = named === undefined ? undefined : responseModeOf(named);
  const byDefault = defaultMode(client);
  return mode === undefined || (isJwtMode(byDefault) && !isJwtMode(mode)) ? byDefault : mode;
}

/** The parameters in a request object, signed or not (OIDC Core §6.1); none if it is no request object. */
function requestObject(jwt: string | undefined): (name: string) => string | undefined {
  let payload: unknown;
  try {
    payload = JSON.parse(Buffer.from(jwt?.split('.')[1] ?? '', 'base64url').toString());
  } catch {}
  return (name) => {
    const value = Object(payload)[name];
    return typeof value === 'string' && value !== '' && !value.includes('\0') ? value : undefined;
  };
}

/** Refuses parameters that could override checked ones. request-objects.ts has opened a valid request object before. */
const plain: Check = (_, { form }) => {
  if (form.get('request') !== undefined) throw bad('Request objects are not supported here', 'request_not_supported');
  if (form.get('request_uri') !== undefined) throw bad('request_uri is not supported', 'request_uri_not_supported');
  if (form.get('registration') !== undefined) throw bad('registration is not supported', 'registration_not_supported');
};

const pushedWhereNeeded: Check = (_, { pushed, mustBePushed }) => {
  if (mustBePushed && !pushed) throw bad('Requests of this application have to be pushed first (RFC 9126)');
};

const signedWhereNeeded: Check = (_, { client, signed }) => {
  if (client.requireSignedRequestObject && !signed)
    throw bad('Requests of this application have to be signed (RFC 9101)');
};

const responseType: Check = (_, { form }) => {
  const type = form.get('response_type');
  if (type === undefined) throw bad('response_type is missing');
  if (type !== 'code') throw bad('response_type must be code', 'unsupported_response_type');
};

const responseMode: Check = (_, { form, client }) => {
  const named = form.get('response_mode');
  const mode = named === undefined ? undefined : responseModeOf(named);
  if (named !== undefined && mode === undefined) throw bad(`response_mode must be one of ${responseModes.join(', ')}`);
  // FAPI 2.0 Message Signing §5.4.2
  if (client.requireSignedResponse && (mode === undefined || !isJwtMode(mode)))
    throw bad('response_mode must be jwt: this application gets signed responses only');
};

const clientMayAsk: Check = (_, { client }) => {
  if (!client.grantTypes.has('authorization_code'))
    throw bad('This application may not use the code flow', 'unauthorized_client');
};

const applicationIsOn: Check = (_, { client }) => {
  if (client.application?.enabled === false) throw bad('The application is switched off', 'access_denied');
};

const BUILT_IN = new Set([OPENID]);

/** The requested scopes that the client doesn't have. @throws OAuthError that goes back to the application */
export const foreignScopes = (form: Form, client: ClientView): string[] =>
  strangersAmong(client, scopeNames(form.get('scope')), BUILT_IN);

/** Unknown scopes are ignored (OIDC Core §3.1.2.1); a scope of the realm that the client doesn't have is refused. */
const scope: Check = (request, { form, client, unknownScopes }) => {
  const asked = scopeNames(form.get('scope'));
  request.openid = asked?.includes(OPENID) ?? false;
  const names = request.openid ? asked?.filter((name) => !unknownScopes.has(name)) : asked;
  const scopes = grantScopes(client, names, BUILT_IN);
  // Offline access must be requested by name; it is never a default (OIDC Core §11).
  request.scopes = scopes.filter((s) => s.name !== OFFLINE || names?.includes(OFFLINE));
};

const pkce: Check = (request, { form, client }) => {
  const [challenge, method] = [form.get('code_challenge'), form.get('code_challenge_method')];
  if (challenge === undefined) {
    if (method !== undefined) throw bad('code_challenge is missing');
    if (client.requirePkce || client.authMethod === 'none') throw bad('PKCE is needed: send a code_challenge (S256)');
    return;
  }
  if (method !== 'S256') throw bad('code_challenge_method must be S256');
  if (!isChallenge(challenge)) throw bad('code_challenge must be a base64url SHA-256');
  request.codeChallenge = challenge;
};

const dpopKey: Check = (request, { form }) => {
  const jkt = form.get('dpop_jkt');
  if (jkt !== undefined && !isChallenge(jkt)) throw bad('dpop_jkt must be a base64url SHA-256');
  request.dpopJkt = jkt;
};

const isPrompt = (value: string): value is Prompt => PROMPTS.some((p) => p === value);
const prompt: Check = (request, { form }) => {
  const values = (form.get('prompt') ?? '').split(' ').filter((value) => value !== '');
  if (!values.every(isPrompt)) throw bad('prompt holds an unknown value');
  if (values.includes('none') && values.length > 1) throw bad('prompt none stands alone');
  request.prompt = new Set(values);
};

const maxAge: Check = (request, { form }) => {
  const value = form.get('max_age');
  if (value === undefined) return;
  if (!/^\d{1,9}$/.test(value)) throw bad('max_age must be a number of seconds');
  request.maxAgeSeconds = Number(value);
};

/**
 * The first value that is a level. Others are meant for other systems, and are ignored (OIDC Core §3.1.2.1: a voluntary
 * claim).
 */
const acrValues: Check = (request, { form }) => {
  const level = (form.get('acr_values') ?? '').split(' ').find((value) => /^[1-9]$/.test(value));
  request.requiredLevel = Number(level ?? 0);
};

const UNMET = 'unmet_authentication_requirements';
/**
 * An `acr` in `claims` takes precedence over `acr_values`: an essential one is reached or refused (OIDC Core §5.5.1.1).
 */
const claims: Check = (request, { form, client, levels }) => {
  const { acr, sub, ...names } = claimsRequest(form.get('claims'));
  const all = [...client.defaultScopes, ...client.optionalScopes];
  request.sub = sub;
  request.claims = request.openid ? offeredClaims(offeredTo(client), names) : undefined;
  const { idToken = [], userinfo = [] } = request.claims ?? {};
  const asked = [...idToken, ...userinfo];
  request.scopesToAgree = all.filter(
    (scope) => request.scopes.includes(scope) || scope.claims.some((claim) => isAskedFor(claim, asked)),
  );
  const level = acr?.values.map(Number).find((wanted) => levels.includes(wanted));
  if (acr?.essential && acr.values.length > 0 && level === undefined) throw bad('No such acr can be reached', UNMET);
  if (level !== undefined) request.requiredLevel = level;
};

const resource: Check = (request, { form, client, realmList, adminAudience }) => {
  request.resources = allowedResources(form.all('resource'), { realmList, client, adminAudience, ownBehalf: false });
};

/**
 * A token with a user's admin rights goes only to a loopback address, that is to a program on the user's own machine,
 * whichever addresses the client has registered. The sign-in must not be older than an admin session may be. RFC 8252
 * §7.3, §8.6.
 */
const administers: Check = (request, { adminAudience }) => {
  if (!request.resources.includes(adminAudience)) return;
  if (!LOOPBACK_ADDRESS.test(request.redirectUri))
    throw bad('The admin API is for a redirect_uri with a loopback IP address', 'invalid_target');
  request.administers = true;
  request.maxAgeSeconds = Math.min(request.maxAgeSeconds ?? Infinity, ADMIN_MAX_MS / 1000);
};
const LOOPBACK_ADDRESS = /^http:\/\/(?:127\.0\.0\.1|\[::1\])(?::\d{1,5})?\//;

/** The agreement also covers the client's own mappers, which apply to every request; an audience counts as a resource. */
const agreement: Check = (request, { client }) => {
  const { openid, scopesToAgree, resources } = request;
  request.toAgree = {
    scopes: [...(openid ? [OPENID] : []), ...scopesToAgree.map(({ name }) => name)].toSorted(),
    resources: [...new Set([...resources, ...audiencesOf([{ claims: client.mappers }])])],
    claims: personalClaims(client.mappers),
  };
};

const deviceMayAsk: Check = (_, { client }) => {
  if (!client.grantTypes.has(DEVICE_CODE))
    throw bad('This application may not use the device flow', 'unauthorized_client');
};

const backchannelMayAsk: Check = (_, { client }) => {
  if (!client.grantTypes.has(CIBA))
    throw bad('This application may not ask people by the backchannel', 'unauthorized_client');
};

const checks: readonly Check[] = [
  responseMode,
  plain,
  pushedWhereNeeded,
  signedWhereNeeded,
  responseType,
  clientMayAsk,
  applicationIsOn,
  scope,
  pkce,
  dpopKey,
  prompt,
  maxAge,
  acrValues,
  claims,
  resource,
  administers,
  agreement,
];

/** The checks for a request without a redirect URI, besides whether the client may send it. */
const withoutBrowser: readonly Check[] = [applicationIsOn, scope, acrValues, claims, resource, administers, agreement];

/** @throws OAuthError that goes back to the application */
export const requestOf = (target: Target, context: CheckContext): AuthorizationRequest =>
  checked(checks, target, context);

const noBrowserRequestOf = (mayAsk: Check, context: CheckContext): AuthorizationRequest => {
  const { client } = context;
  return checked(
    [plain, mayAsk, ...withoutBrowser],
    { client, redirectUri: '', responseMode: 'query', state: undefined },
    context,
  );
};

/** @throws OAuthError for the device */
export const deviceRequestOf = (context: CheckContext) => noBrowserRequestOf(deviceMayAsk, context);

/** @throws OAuthError for the client */
export const backchannelRequestOf = (context: CheckContext) => noBrowserRequestOf(backchannelMayAsk, context);

function checked(by: readonly Check[], target: Target, context: CheckContext): AuthorizationRequest {
  const { form } = context;
  const request: Request = {
    ...target,
    text: form.text,
    openid: false,
    scopes: [],
    resources: [],
    nonce: form.get('nonce'),
    dpopJkt: undefined,
    codeChallenge: null,
    prompt: new Set(),
    maxAgeSeconds: undefined,
    requiredLevel: 0,
    claims: undefined,
    sub: undefined,
    scopesToAgree: [],
    toAgree: { scopes: [], resources: [], claims: [] },
    details: [],
    administers: false,
    loginHint: form.get('login_hint'),
    providerHint: form.get('kc_idp_hint'),
    idTokenHint: form.get('id_token_hint'),
    pushed: context.pushed,
  };
  for (const check of by) check(request, context);
  return request;
}

/** The request without offline access: a grant of an impersonator must not outlive the impersonation. */
export const withoutOffline = (asked: AuthorizationRequest): AuthorizationRequest => ({
  ...asked,
  scopes: asked.scopes.filter(({ name }) => name !== OFFLINE),
  scopesToAgree: asked.scopesToAgree.filter(({ name }) => name !== OFFLINE),
  toAgree: { ...asked.toAgree, scopes: asked.toAgree.scopes.filter((name) => name !== OFFLINE) },
});
