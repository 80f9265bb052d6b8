// Owns: trading a workload's token for one of ours: which credential it fits, whether it holds, what the new token may do.
// Does not own: reading and judging a token (token.ts), the issuers' keys (issuer-keys.ts), minting (features/issued-tokens).
// Implements: specification 4.7, 5 rule 5, 6.1 rule 4, 7; decisions "Workload identity"; RFC 8693.
import { setTimeout as sleep } from 'node:timers/promises';
import type { DomainEvent } from '../../contract/events.ts';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact } from '../../db/transact.ts';
import type { ScopeView } from '../../domain/claims.ts';
import { allowedResources } from '../../domain/resource-indicators.ts';
import type { Refusals } from '../../events/refusals.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import type { ClientView } from '../clients/view.ts';
import type { Mint, Minted } from '../issued-tokens/mint.ts';
import type { IssuerKeys } from './issuer-keys.ts';
import * as store from './store.ts';
import { candidates, type Presented, readToken, signedBy, timeFault } from './token.ts';

/** Any failure is answered this long after the request came, so that time tells nothing, whatever was looked up or fetched. */
const FAILURE_MS = 2_000;
/** The part of that time that fetching keys may take; the rest is for the audit row. */
const KEYS_SHARE = 0.8;

/** Of a token's own words in the audit trail. */
const MOST_NAME = 1024;

export interface ExchangeDeps {
  sql: Sql;
  transact: Transact;
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  issuerKeys: IssuerKeys;
  mint: Pick<Mint, 'forClient'>;
  adminAudience: string;
  refusals: Pick<Refusals, 'record'>;
  metrics: { tokenIssued(realm: string, grant: string): void };
  now(): Date;
  failureMs?: number;
}
export interface ExchangeRequest {
  realm: string;
  subjectToken: string;
  /** Requested names; undefined: all of the credential's. */
  scopes: readonly string[] | undefined;
  resources: readonly string[];
  ipAddress: string;
}

interface Accepted {
  token: Presented;
  credential: store.CredentialRow;
  client: ClientView;
}
type Verdict = ({ ok: true } & Accepted) | { ok: false; reason: string; credential?: store.CredentialRow };

export function createExchange({
  sql,
  transact,
  clients,
  settings,
  issuerKeys,
  mint,
  adminAudience,
  refusals,
  metrics,
  now,
  failureMs = FAILURE_MS,
}: ExchangeDeps) {
  async function signatureHolds(credential: store.CredentialRow, token: Presented): Promise<boolean> {
    const source = { issuer: credential.issuer, jwksUri: credential.jwks_uri };
    const keys = candidates(await issuerKeys.get(source), token);
    if (await signedBy(keys, token)) return true;
    // A known key that did not sign it: the token is wrong, not the cache; without a kid nobody can tell.
    if (keys.length > 0 && token.kid !== undefined) return false;
    const renewed = await issuerKeys.renewed(source);
    return renewed !== undefined && signedBy(candidates(renewed, token), token);
  }

  async function judge(realm: string, token: Presented): Promise<Verdict> {
    const credential = await store.match(sql, realm, token);
    if (!credential) return { ok: false, reason: 'no credential has this issuer, subject and audience' };
    const refuse = (reason: string): Verdict => ({ ok: false, reason, credential });
    if (!credential.enabled) return refuse('the credential is disabled');
    try {
      if (!(await signatureHolds(credential, token))) return refuse('no key of the issuer made the signature');
    } catch (error) {
      return refuse(`the issuer's keys could not be had: ${error instanceof Error ? error.message : error}`);
    }
    const fault = timeFault(token, now());
    if (fault !== undefined) return refuse(fault);
    const client = await clients.view(realm, credential.client_id);
    if (!client?.enabled) return refuse('the client is disabled');
    return { ok: true, token, credential, client };
  }

  /** @returns undefined: the credential was taken away while its issuer was asked for keys */
  async function grant(request: ExchangeRequest, { token, credential, client }: Accepted): Promise<Minted | undefined> {
    const { realm, scopes, resources } = request;
    const ofRealm = await settings.of(realm);
    if (!ofRealm) throw new OAuthError('not_found', 'There is no such realm');
    const audit = eventOf(request, token);
    let allowed: string[];
    try {
      const { resourceIndicators: realmList } = ofRealm;
      allowed = allowedResources(resources, { realmList, client, adminAudience, ownBehalf: credential.admin_access });
    } catch (error) {
      const reason = 'a resource is not allowed';
      const refused = audit('WORKLOAD_TOKEN_REFUSED', { verified: true, credential: credential.name, reason });
      refusals.record(refused, `${credential.id} ${reason}`);
      throw error;
    }
    const minted = await mint.forClient(realm, client, {
      scopes: grantedScopes(credential.scopes, scopes, client),
      resources: allowed,
      ttlSeconds: ofRealm.workloadTokenTtlSeconds,
      claims: { workload: { issuer: token.issuer, subject: token.subject } },
    });
    const { scope, jti } = minted;
    const data = {
      verified: true,
      credential: credential.name,
      audience: credential.audience,
      scope,
      jti,
      resources: allowed,
    };
    const issued = await transact(realm, async (tx) => {
      const now = await store.match(tx.sql, realm, token);
      const holds = now?.enabled && now.id === credential.id && now.client_id === credential.client_id;
      if (holds) tx.record({ ...audit('WORKLOAD_TOKEN_ISSUED', data), clientId: client.clientId });
      else tx.record(audit('WORKLOAD_TOKEN_REFUSED', { verified: true, reason: 'the credential changed meanwhile' }));
      return holds;
    });
    if (!issued) return undefined;
    metrics.tokenIssued(realm, 'token-exchange');
    return minted;
  }

  return {
    /**
     * The new token, or undefined: refused, and nobody but the audit log learns why.
     * @throws OAuthError `invalid_target`: the token holds, but a requested resource is not allowed
     */
    async exchange(request: ExchangeRequest): Promise<Minted | undefined> {
      const { realm } = request;
      const deadline = sleep(failureMs, undefined, { ref: false });
      const reading = readToken(request.subjectToken);
      // Keys that come later than any failure is answered are kept for the next try.
      const tooLate: Verdict = { ok: false, reason: 'the issuer’s keys did not come in time' };
      const late = sleep(failureMs * KEYS_SHARE, tooLate, { ref: false });
      const verdict: Verdict = reading.ok
        ? await Promise.race([judge(realm, reading.token), late])
        : { ok: false, reason: reading.reason };
      if (verdict.ok) {
        const granted = await grant(request, verdict);
        if (granted) return granted;
      } else {
        const { reason, credential } = verdict;
        const audit = eventOf(request, reading.ok ? reading.token : reading);
        const refused = audit('WORKLOAD_TOKEN_REFUSED', {
          verified: false,
          ...(credential && { credential: credential.name }),
          reason,
        });
        refusals.record(refused, credential && `${credential.id} ${reason}`);
      }
      await deadline;
      return undefined;
    },
  };
}
export type Exchange = ReturnType<typeof createExchange>;

/** Specification 6.1: an exchange, success or failure, is audited with issuer and subject. Only a verified one acted. */
const eventOf =
  ({ realm, ipAddress }: ExchangeRequest, { issuer, subject }: { issuer?: string; subject?: string }) =>
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

/** What the credential has of the requested scopes; claims come with those that the client knows. */
function grantedScopes(
  credential: string,
  requested: readonly string[] | undefined,
  { defaultScopes, optionalScopes }: Pick<ClientView, 'defaultScopes' | 'optionalScopes'>,
): ScopeView[] {
  const known = new Map([...optionalScopes, ...defaultScopes].map((scope) => [scope.name, scope]));
  const names = [...new Set(credential.split(' '))].filter((name) => name !== '');
  return names
    .filter((name) => requested === undefined || requested.includes(name))
    .map((name) => ({ ...(known.get(name) ?? { name, description: null, claims: [] }), inTokenScope: true }));
}
