// Owns: exchanging a workload's token for one of a realm: finding its credential, checking it, the new token's rights.
// Does not own: reading and checking a token (domain/workload-token.ts), the issuers' keys (domain/issuer-keys.ts), minting (features/configuration/issued-tokens).
// Implements: specification 4.7, 5 rule 5, 6.1 rule 4, 7; decisions "Workload identity"; RFC 8693, RFC 7523.
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import type { DomainEvent } from '../../../contract/events.ts';
import { JWT_BEARER, jwtBearerBody, TOKEN_EXCHANGE } from '../../../contract/oauth.ts';
import { exchangeBody } from '../../../contract/workload-exchange.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import type { ScopeView } from '../../../domain/claims.ts';
import { type IssuerKeys, signatureHolds } from '../../../domain/issuer-keys.ts';
import { inRealm, type RateLimit } from '../../../domain/rate-limit.ts';
import { type Presented, readToken, timeFault } from '../../../domain/workload-token.ts';
import type { Refusals } from '../../../events/refusals.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Mint } from '../../configuration/issued-tokens/mint.ts';
import type { Authenticated } from '../client-authentication/service.ts';
import type { Grant, GrantRequest } from '../token/grant.ts';
import * as store from './store.ts';

/**
 * Every failure is answered this long after the request arrived, so that the time doesn't reveal which lookups were
 * made.
 */
const FAILURE_MS = 2_000;
/** The share of that time for fetching keys; the rest is for the audit row. */
const KEYS_SHARE = 0.8;

/** The longest value of a workload's token in the audit log. */
const MOST_NAME = 1024;

export interface ExchangeDeps {
  sql: Sql;
  transact: Transact;
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  issuerKeys: IssuerKeys;
  mint: Pick<Mint, 'forClient'>;
  refusals: Pick<Refusals, 'record'>;
  /** The rate limit of one address in one realm, if the endpoint has none itself. */
  attempts: Pick<RateLimit, 'take'> | undefined;
  now(): Date;
  failureMs?: number;
}
interface Workload extends Authenticated {
  token: Presented;
  credential: store.CredentialRow;
  /** When a failure is answered. */
  deadline: Promise<unknown>;
}
type Verdict =
  | ({ ok: true } & Pick<Workload, 'token' | 'credential' | 'client'>)
  | { ok: false; reason: string; credential?: store.CredentialRow; signed?: boolean };

/** The same error for every cause; only the audit log, whose row is written already, holds the cause. */
const failed = (status: number) => new OAuthError('invalid_grant', undefined, { status, audited: true });

/** How a workload's JWT is presented: by an exchange (RFC 8693), or as an assertion (RFC 7523 §2.1). */
interface Presentation<Body extends z.ZodObject> {
  grantType: string;
  label: string;
  body: Body;
  jwtOf(body: z.output<Body>): string;
  /** The status of a refusal: specification 4.7, RFC 6749 §5.2. */
  refusedBy: 400 | 401;
}
export const byExchange: Presentation<typeof exchangeBody> = {
  grantType: TOKEN_EXCHANGE,
  label: 'token-exchange',
  body: exchangeBody,
  jwtOf: ({ subject_token }) => subject_token,
  refusedBy: 401,
};
export const byAssertion: Presentation<typeof jwtBearerBody> = {
  grantType: JWT_BEARER,
  label: 'jwt-bearer',
  body: jwtBearerBody,
  jwtOf: ({ assertion }) => assertion,
  refusedBy: 400,
};

/** The grant of workloads: no client authenticates, and the presented token names the workload. */
export function workloadGrant<Body extends z.ZodObject>(
  presentation: Presentation<Body>,
  { sql, transact, clients, issuerKeys, mint, refusals, now, attempts, failureMs = FAILURE_MS }: ExchangeDeps,
): Grant<Body, Workload> {
  async function judge(realm: string, token: Presented): Promise<Verdict> {
    const credential = await store.match(sql, realm, token);
    if (!credential) return { ok: false, reason: 'no credential has this issuer, subject and audience' };
    let signed = false;
    const refuse = (reason: string): Verdict => ({ ok: false, reason, credential, signed });
    if (!credential.enabled) return refuse('the credential is disabled');
    try {
      const source = { issuer: credential.issuer, jwksUri: credential.jwks_uri };
      if (!(await signatureHolds(issuerKeys, source, token))) return refuse('no key of the issuer made the signature');
    } catch (error) {
      const why = error instanceof Error ? error.message : error;
      return refuse(`the issuer's keys could not be had: ${why}`);
    }
    signed = true;
    const fault = timeFault(token, now());
    if (fault !== undefined) return refuse(fault);
    const client = await clients.view(realm, credential.client_id);
    if (!client?.enabled) return refuse('the client is disabled');
    return { ok: true, token, credential, client };
  }

  async function identify({ realm, ipAddress, body }: GrantRequest<z.output<Body>>): Promise<Workload> {
    const retryAfterSeconds = attempts?.take(inRealm(realm, ipAddress));
    if (retryAfterSeconds !== undefined)
      throw new OAuthError('slow_down', 'Too many exchanges from this address', { retryAfterSeconds, audited: true });
    const deadline = sleep(failureMs, undefined, { ref: false });
    const reading = readToken(presentation.jwtOf(body));
    // Keys that arrive after this deadline are cached for the next try.
    const tooLate: Verdict = { ok: false, reason: 'the issuer’s keys did not come in time' };
    const late = sleep(failureMs * KEYS_SHARE, tooLate, { ref: false });
    const verdict: Verdict = reading.ok
      ? await Promise.race([judge(realm, reading.token), late])
      : { ok: false, reason: reading.reason };
    if (verdict.ok) return { ...verdict, confidential: true, deadline };
    const { reason, credential, signed = false } = verdict;
    const said = reading.ok ? reading.token : reading;
    const { event, kind } = refusalOf({ realm, ipAddress }, said, { verified: false, credential, reason, signed });
    refusals.record(event, kind);
    await deadline;
    throw failed(presentation.refusedBy);
  }

  return {
    grantType: presentation.grantType,
    label: presentation.label,
    body: presentation.body,
    clientAuth: { by: identify },
    scopePolicy: 'granted',
    resourcePolicy: 'client',
    ownBehalf: ({ credential }) => credential.admin_access,
    refused: (asking, { token, credential }, { error, reason, description }) =>
      refusalOf(asking, token, {
        verified: true,
        credential,
        reason: error === 'invalid_target' ? 'a resource is not allowed' : (reason ?? description ?? error),
        signed: true,
      }),

    async authorize(call) {
      const { realm, client, resources, settings } = call;
      const { token, credential, deadline } = call.who;
      const minted = await mint.forClient(realm, client, {
        scopes: grantedScopes(credential.scopes, call.requestedScopes, client),
        resources,
        cnf: call.cnf,
        ttlSeconds: settings.workloadTokenTtlSeconds,
        claims: { workload: { issuer: token.issuer, subject: token.subject } },
      });
      const { name, audience } = credential;
      const { scope, jti } = minted;
      const audit = eventOf(call, token);
      const issued = await transact(realm, async (tx) => {
        const present = await store.match(tx.sql, realm, token);
        const holds = present?.enabled && present.id === credential.id && present.client_id === credential.client_id;
        const data = { verified: true, credential: name, audience, scope, jti, resources };
        // An agent acts in its own name, whatever proof it presents.
        const own = client.agent && { by: call.by };
        if (holds) tx.record({ ...audit('WORKLOAD_TOKEN_ISSUED', data), ...own, clientId: client.clientId });
        else tx.record(audit('WORKLOAD_TOKEN_REFUSED', { verified: true, reason: 'the credential changed meanwhile' }));
        return holds;
      });
      if (issued) return minted;
      await deadline;
      throw failed(presentation.refusedBy);
    },
  };
}

type Caller = Pick<GrantRequest, 'realm' | 'ipAddress'>;

/** Specification 6.1: an exchange, success or failure, is audited with issuer and subject. Only a verified one acted. */
const eventOf =
  ({ realm, ipAddress }: Caller, { issuer, subject }: { issuer?: string; subject?: string }) =>
  (
    type: 'WORKLOAD_TOKEN_ISSUED' | 'WORKLOAD_TOKEN_REFUSED',
    { verified, ...data }: { verified: boolean } & Record<string, unknown>,
  ): DomainEvent => ({
    type,
    realm,
    by: { actor: verified ? { type: 'workload', id: null, name: subject ?? null } : null, ipAddress },
    outcome: type === 'WORKLOAD_TOKEN_ISSUED' ? 'success' : 'failure',
    data: { issuer: issuer?.slice(0, MOST_NAME) ?? null, subject: subject?.slice(0, MOST_NAME) ?? null, ...data },
  });

/**
 * `kind`: the refusals of a known credential are counted by themselves (events/refusals.ts), those of tokens with a valid
 * signature apart from the others, which any caller can send. The reasons are many, so they have no counts of their own.
 */
function refusalOf(
  caller: Caller,
  said: { issuer?: string; subject?: string },
  { verified, credential, reason, signed }: Refused,
): { event: DomainEvent; kind?: string } {
  const data = { verified, ...(credential && { credential: credential.name }), reason };
  const event = eventOf(caller, said)('WORKLOAD_TOKEN_REFUSED', data);
  return credential ? { event, kind: `${credential.id} ${signed ? 'signed' : 'unsigned'}` } : { event };
}
interface Refused {
  verified: boolean;
  credential: store.CredentialRow | undefined;
  reason: string;
  /** Whether a key of the issuer signed the token. */
  signed: boolean;
}

/** The requested scopes that the credential grants; the client's scopes among them bring their claims. */
function grantedScopes(
  credential: string,
  requested: readonly string[] | undefined,
  { defaultScopes, optionalScopes, agent }: Pick<ClientView, 'defaultScopes' | 'optionalScopes' | 'agent'>,
): ScopeView[] {
  const known = new Map([...optionalScopes, ...defaultScopes].map((scope) => [scope.name, scope]));
  const names = [...new Set(credential.split(' '))].filter((name) => name !== '');
  return names
    .filter((name) => (requested === undefined || requested.includes(name)) && agent?.scopes.includes(name) !== false)
    .map((name) => ({ ...(known.get(name) ?? { name, description: null, claims: [] }), inTokenScope: true }));
}
