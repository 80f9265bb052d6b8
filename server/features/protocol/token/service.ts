// Owns: the phases of the token endpoint, so that no grant can skip one (grant.ts); reading a grant's parameters.
// Does not own: a grant's own rules (code.ts, refresh.ts, client-credentials.ts), the tokens' content (features/configuration/issued-tokens).
// Implements: RFC 6749 §5, RFC 8707; specification 4.11, 7 (invalid_target); decisions "Protocol paths".
import type { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { partyOfClient } from '../../../domain/agents.ts';
import { AUTHORIZATION_DETAILS, badDetails } from '../../../domain/authorization-details.ts';
import type { Dpop } from '../../../domain/dpop.ts';
import { allowedResources, presentResources } from '../../../domain/resource-indicators.ts';
import { grantScopes, OFFLINE, OPENID, scopeNames } from '../../../domain/scopes.ts';
import { type Confirmation, confirmationOf, tokenTypeOf } from '../../../domain/sender.ts';
import { type Refusals, refusedEvent } from '../../../events/refusals.ts';
import type { ClientCertificate } from '../../../http/client-certificate.ts';
import { type Form, REPEATABLE_PARAMETERS } from '../../../http/form.ts';
import { oauthErrorOf } from '../../../http/oauth.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { adminAudience } from '../../../http/own-addresses.ts';
import type { DpopRequest } from '../../../http/presented-token.ts';
import { rulesOfProofs } from '../../configuration/clients/profile.ts';
import type { AuthorizationDetails } from '../authorization-details/service.ts';
import { type Authenticated, type ClientAuthentication, demandProfile } from '../client-authentication/service.ts';
import type { Grant, Granted, GrantRequest } from './grant.ts';

export interface TokenRequest {
  realm: string;
  authorization: string | undefined;
  form: Form;
  ipAddress: string;
  /** The proof of the key that the tokens will be bound to. */
  dpop: DpopRequest | undefined;
  /** The certificate of the client's connection. */
  certificate: ClientCertificate | undefined;
}
export interface TokenAnswer {
  json: string;
  client: Authenticated['client'];
}
/** The progress of a request. */
interface TokenProgress {
  grant?: Grant;
  asking?: GrantRequest<Record<string, unknown>>;
  who?: Authenticated;
}

export function createTokenEndpoint({
  authentication,
  settings,
  details,
  grants,
  refusals,
  metrics,
  dpop,
  baseUrl,
}: {
  authentication: Pick<ClientAuthentication, 'authenticate'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  details: Pick<AuthorizationDetails, 'asked'>;
  grants: readonly Grant[];
  refusals: Pick<Refusals, 'record'>;
  metrics: { tokenIssued(realm: string, grant: string): void };
  dpop: Pick<Dpop, 'check'>;
  baseUrl: string;
}) {
  const byType = Map.groupBy(grants, (grant) => grant.grantType);
  const adminResource = adminAudience(baseUrl);
  const authenticates = grants.some(({ clientAuth }) => typeof clientAuth === 'string');

  async function firstFor(all: readonly Grant[], request: TokenRequest): Promise<Grant | undefined> {
    for (const grant of all) if (!grant.appliesTo || (await grant.appliesTo(request))) return grant;
    return undefined;
  }

  /** Authenticates the client first: an unknown client must not learn which grants exist. */
  async function identified(request: TokenRequest, progress: TokenProgress): Promise<Required<TokenProgress>> {
    const { realm, form, ipAddress } = request;
    const grantType = form.get('grant_type');
    const all = byType.get(grantType ?? '');
    const grant = all && (all.length === 1 ? all[0] : await firstFor(all, request));
    const asking = (of: Grant) => ({ realm, ipAddress, body: bodyOf(of, form) });
    if (grant) progress.grant = grant;
    if (grant && typeof grant.clientAuth !== 'string') {
      scopeNames(form.get('scope'));
      progress.asking = asking(grant);
      progress.who = await grant.clientAuth.by(progress.asking);
      return { grant, asking: progress.asking, who: progress.who };
    }
    if (authenticates) progress.who = await authentication.authenticate({ ...request, address: ipAddress });
    if (grantType === undefined) throw new OAuthError('invalid_request', 'grant_type is missing');
    const { who } = progress;
    if (!grant || !who) throw new OAuthError('unsupported_grant_type', 'This grant type is not supported');
    const may = grant.allowedTo?.(who.client) ?? who.client.grantTypes.has(grantType);
    if (!may || !(who.confidential || grant.clientAuth === 'any'))
      throw new OAuthError('unauthorized_client', 'This client may not use this grant type');
    return { grant, asking: asking(grant), who };
  }

  /** The thumbprint of the client's certificate; undefined: its tokens are not bound to one. */
  function boundCertificate({ certificate }: TokenRequest, client: Authenticated['client']): string | undefined {
    if (!client.certificateBoundAccessTokens) return undefined;
    if (!certificate)
      throw new OAuthError('invalid_request', 'This client has to connect by its certificate (RFC 8705)');
    return certificate.thumbprint;
  }

  /** The thumbprint of the key that the client proves; undefined: it proves none, and need not. */
  async function keyOf({ realm, dpop: proof }: TokenRequest, client: Authenticated['client']) {
    if (proof) return dpop.check(realm, proof, rulesOfProofs(client));
    if (client.dpopBoundAccessTokens)
      throw new OAuthError('invalid_dpop_proof', 'This client has to send a DPoP proof (RFC 9449)');
    return undefined;
  }

  /** The requested details; undefined: none are requested. */
  async function detailsOf({ realm, form }: TokenRequest, { grant, who }: Required<TokenProgress>) {
    const text = form.get(AUTHORIZATION_DETAILS);
    if (text === undefined) return undefined;
    if (!grant.takesDetails) throw badDetails('authorization_details is not for this grant type');
    const asked = await details.asked(realm, who.client, text, { ownBehalf: grant.ownBehalf(who) });
    return asked.map(({ detail }) => detail);
  }

  async function granted(request: TokenRequest, { grant, asking, who }: Required<TokenProgress>): Promise<string> {
    const { realm, form, ipAddress } = request;
    const { client } = who;
    demandProfile(client);
    const ofRealm = await settings.of(realm);
    if (!ofRealm) throw new OAuthError('not_found', 'There is no such realm');
    const rules = {
      realmList: ofRealm.resourceIndicators,
      client,
      adminAudience: adminResource,
      ownBehalf: grant.ownBehalf(who) && who.workload?.adminAccess !== false,
    };
    const wanted = grant.takesAudience ? [...form.all('resource'), ...form.all('audience')] : form.all('resource');
    const resources = grant.resourcePolicy === 'elsewhere' ? [] : allowedResources(wanted, rules);
    const requestedScopes = scopeNames(form.get('scope'));
    const x5t = boundCertificate(request, client);
    const jkt = request.dpop || client.dpopBoundAccessTokens ? await keyOf(request, client) : undefined;
    const cnf = confirmationOf({ jkt, x5t });
    const answer = await grant.authorize({
      ...asking,
      settings: ofRealm,
      who,
      client,
      resources,
      presentResources: () => presentResources(rules),
      details: await detailsOf(request, { grant, asking, who }),
      sender: { jkt, x5t: request.certificate?.thumbprint },
      cnf,
      requestedScopes,
      scopes: grant.scopePolicy === 'client' ? clientScopes(client, requestedScopes) : [],
      by: { actor: partyOfClient(client), ipAddress },
    });
    if ('answer' in answer) return JSON.stringify(answer.answer);
    metrics.tokenIssued(realm, grant.label ?? grant.grantType);
    return answerOf({ ...answer, cnf });
  }

  function refused(request: TokenRequest, { grant, asking, who }: TokenProgress, error: OAuthError): void {
    const { realm, form, ipAddress } = request;
    if (error.status >= 500 || error.audited) return;
    if (grant?.refused && asking && who) {
      const { event, kind } = grant.refused(asking, who, error);
      refusals.record(event, kind);
      return;
    }
    const nobody: By = { actor: null, ipAddress };
    const named = who?.client.clientId ?? error.clientId ?? null;
    const type = form.get('grant_type')?.slice(0, 100) ?? null;
    refusals.record(refusedEvent({ realm, by: nobody }, named, type, error));
  }

  return {
    grantTypes: [...byType.keys()],

    /** Answers a token request; every refusal is audited, in its transaction or beside the request. */
    async answer(request: TokenRequest): Promise<TokenAnswer> {
      const progress: TokenProgress = {};
      try {
        const known = await identified(request, progress);
        return { json: await granted(request, known), client: known.who.client };
      } catch (thrown) {
        const error = oauthErrorOf(thrown);
        refused(request, progress, error);
        throw error;
      }
    },
  };
}
export type TokenEndpoint = ReturnType<typeof createTokenEndpoint>;

/** A grant's own parameters. @throws OAuthError `invalid_request` */
function bodyOf({ body }: Grant, form: Form): Record<string, unknown> {
  const given: Record<string, unknown> = Object.fromEntries(
    Object.keys(body.shape).map((name) => [name, REPEATABLE_PARAMETERS.has(name) ? form.all(name) : form.get(name)]),
  );
  const read = body.safeParse(given);
  if (read.success) return read.data;
  const { path, message } = read.error.issues[0] as z.core.$ZodIssue;
  const [name = ''] = path.map(String);
  throw new OAuthError('invalid_request', given[name] === undefined ? `${name} is missing` : `${name} ${message}`);
}

function clientScopes(client: Authenticated['client'], requested: readonly string[] | undefined) {
  if (requested?.includes(OPENID) || requested?.includes(OFFLINE))
    throw new OAuthError('invalid_scope', 'Without a person there is no openid or offline_access');
  return grantScopes(client, requested).filter(({ name }) => name !== OFFLINE);
}

/** RFC 6749 §5.1, OIDC Core §3.1.3.3. */
export const answerOf = ({
  accessToken,
  expiresIn,
  scope,
  refreshToken,
  idToken,
  issuedTokenType,
  authorizationDetails,
  upgraded,
  cnf,
  tokenType,
}: Granted & { cnf: Confirmation | undefined }): string =>
  JSON.stringify({
    access_token: accessToken,
    issued_token_type: issuedTokenType,
    token_type: tokenType ?? tokenTypeOf(cnf),
    expires_in: expiresIn,
    refresh_token: refreshToken,
    id_token: idToken,
    // RFC 6749 §3.3: a scope contains at least one word, so an empty one is omitted
    scope: scope || undefined,
    // RFC 9396 §7
    authorization_details: authorizationDetails,
    upgraded,
  });
