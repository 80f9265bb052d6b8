// Owns: transaction tokens: whether the realm's policy permits one, its claims, replacing one by another that permits no more.
// Does not own: the policies (features/protocol/transaction-token-policies), reading a context (context.ts).
// Implements: draft-ietf-oauth-transaction-tokens §6, §7, §14; decisions "Transaction token policy".
import type { z } from 'zod';
import { ACCESS_TOKEN_TYPE } from '../../../contract/oauth.ts';
import { TXN_TOKEN_TYP, TXN_TOKEN_TYPE } from '../../../contract/token-types.ts';
import type { Sql } from '../../../db/sql.ts';
import { mayExchange, readSubject } from '../../../domain/on-behalf.ts';
import { userParty } from '../../../domain/party.ts';
import { personOf } from '../../../domain/person.ts';
import { isProven } from '../../../domain/sender.ts';
import { isPersons, type Subjects } from '../../../domain/subjects.ts';
import type { EventBatch } from '../../../events/batch.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Claims, Tokens } from '../../configuration/issued-tokens/service.ts';
import type { GrantCall, Granted } from '../token/grant.ts';
import { type Context, contextIn, extended } from './context.ts';
import * as store from './store.ts';
import type { txnTokenBody } from './terms.ts';

type Call = GrantCall<z.output<typeof txnTokenBody>>;

/** A call chain is no longer than this. */
const MOST_WORKLOADS = 20;

export interface TxnTokenDeps {
  sql: Sql;
  tokens: Pick<Tokens, 'verify' | 'sign'>;
  subjects: Pick<Subjects, 'find' | 'of'>;
  settings: { issuer(realm: string): Promise<string> };
  batch: Pick<EventBatch, 'record'>;
  now: () => Date;
  newId: () => string;
}

/** The part of the token that its subject token decides. */
interface Transaction {
  txn: string;
  sub: string;
  /** The user's id and name; undefined: the transaction is a client's own. */
  user: { id: string; name: string } | undefined;
  /** The scopes of the transaction that the subject token permits. */
  permits(scope: string): boolean;
  tctx: Context;
  rctx: Context;
  /** The workloads that asked for the replaced tokens, the first one first. */
  workloads: readonly string[];
  until: number;
  gid: string | undefined;
  sid: string | undefined;
  /** The party that acts for the user (RFC 8693 §4.1). */
  act: unknown;
}

/** RFC 8693 §2.2.2: a faulty token is an invalid_request. */
const invalid = (reason: string) =>
  new OAuthError('invalid_request', 'The subject token is not valid here', { reason });

const scopesIn = ({ scope }: Claims): string[] => (scope ?? '').split(' ').filter(Boolean);
const textsIn = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

export function createTxnTokens({ sql, tokens, subjects, settings, batch, now, newId }: TxnTokenDeps) {
  async function begun(call: Call, policy: store.TxnPolicyRow, trustDomain: string): Promise<Transaction> {
    const { realm, client, body, sender } = call;
    const claims = await tokens.verify(realm, body.subject_token, { typ: 'at+jwt' });
    if (!claims || !mayExchange(client, claims))
      throw invalid('it is no access token that is this client’s, or for it');
    if (!isProven(claims, sender)) throw invalid('the access token is bound to a key that was not proven');
    const said = scopesIn(claims);
    const transaction = {
      txn: newId(),
      permits: (scope: string) =>
        Object.hasOwn(policy.scopes, scope) && (policy.scopes[scope] ?? []).every((needed) => said.includes(needed)),
      tctx: contextIn('request_details', body.request_details),
      rctx: contextIn('request_context', body.request_context),
      workloads: [],
      until: claims.exp,
      gid: claims.gid,
      sid: claims.sid,
      act: claims.act,
    };
    if (!isPersons(claims)) return { ...transaction, sub: claims.sub, user: undefined };
    const userId = subjects.find(realm, claims);
    const row = userId === undefined ? undefined : await readSubject(sql, realm, userId, client.id);
    if (!row) throw invalid('the user is gone or disabled');
    // Unique in the trust domain, whichever client the access token was for.
    const about = await subjects.of(realm, { subjectType: null, sector: trustDomain }, personOf(row));
    if (!about) throw invalid('nothing names the user there');
    return { ...transaction, sub: about.sub, user: { id: row.user_id, name: row.username } };
  }

  async function replaced(call: Call, policy: store.TxnPolicyRow, trustDomain: string): Promise<Transaction> {
    const { realm, body } = call;
    if (!policy.replaces) throw invalid('the client may replace no transaction tokens');
    const claims = await tokens.verify(realm, body.subject_token, { typ: TXN_TOKEN_TYP, audience: trustDomain });
    if (!claims || typeof claims.txn !== 'string') throw invalid('it is no transaction token of this trust domain');
    const workloads = [...textsIn(claims.req_wls), String(claims.req_wl)];
    if (workloads.length > MOST_WORKLOADS) throw invalid('its call chain is too long');
    const said = scopesIn(claims);
    return {
      txn: claims.txn,
      sub: claims.sub,
      user: undefined,
      permits: (scope) => said.includes(scope) && Object.hasOwn(policy.scopes, scope),
      tctx: extended('request_details', claims.tctx, contextIn('request_details', body.request_details)),
      rctx: extended('request_context', claims.rctx, contextIn('request_context', body.request_context)),
      workloads,
      until: claims.exp,
      gid: claims.gid,
      sid: claims.sid,
      act: claims.act,
    };
  }

  return async (call: Call): Promise<Granted> => {
    const { realm, client, body, requestedScopes, by } = call;
    const [trustDomain, ...others] = body.audience;
    if (trustDomain === undefined || others.length > 0)
      throw new OAuthError('invalid_request', 'audience names one trust domain');
    if (body.actor_token !== undefined)
      throw new OAuthError('invalid_request', 'A transaction token takes no actor_token');
    if (!requestedScopes) throw new OAuthError('invalid_request', 'scope is missing');
    const policy = await store.policyFor(sql, realm, { clientId: client.clientId, trustDomain });
    if (!policy) throw new OAuthError('invalid_target', 'This client may get no tokens of this trust domain');
    const { subject_token_type: type } = body;
    if (type !== ACCESS_TOKEN_TYPE && type !== TXN_TOKEN_TYPE)
      throw new OAuthError('invalid_request', 'subject_token_type must be that of an access or transaction token');
    const of = await (type === TXN_TOKEN_TYPE ? replaced : begun)(call, policy, trustDomain);
    if (!requestedScopes.every((scope) => of.permits(scope)))
      throw new OAuthError('invalid_scope', 'The subject token or the policy permits no such scope');

    const iat = Math.floor(now().getTime() / 1000);
    const exp = Math.min(iat + policy.ttl_seconds, of.until);
    const scope = requestedScopes.join(' ');
    const jti = newId();
    const token = await tokens.sign(
      realm,
      { typ: TXN_TOKEN_TYP, algorithm: null },
      {
        iss: await settings.issuer(realm),
        aud: trustDomain,
        iat,
        exp,
        jti,
        txn: of.txn,
        sub: of.sub,
        scope,
        req_wl: client.clientId,
        ...(of.workloads.length > 0 && { req_wls: of.workloads }),
        tctx: of.tctx,
        rctx: of.rctx,
        gid: of.gid,
        sid: of.sid,
        act: of.act,
      },
    );
    batch.record({
      type: 'TOKEN_ISSUED',
      realm,
      by,
      clientId: client.clientId,
      subject: of.user ? userParty(of.user.id, of.user.name) : null,
      data: {
        grant: 'transaction_token',
        policy: policy.name,
        audience: trustDomain,
        scope,
        jti,
        txn: of.txn,
        replaced: type === TXN_TOKEN_TYPE,
      },
    });
    return { accessToken: token, tokenType: 'N_A', issuedTokenType: TXN_TOKEN_TYPE, expiresIn: exp - iat, scope, jti };
  };
}
