// The authorization_code grant: a code works once, for its client, its redirect_uri and its PKCE verifier; a second use ends
// everything that the first one gave. RFC 6749 §4.1.3, RFC 7636 §4.6, RFC 9700 §4.5.

import { challengeOf, pkceHolds } from '../../crypto/pkce.ts';
import { grantIdOf, newRefreshToken } from '../../crypto/refresh-token.ts';
import { sha256, wellFormed } from '../../crypto/tokens.ts';
import type { Transact, Tx } from '../../db/transact.ts';
import { personOf } from '../../domain/person.ts';
import { OFFLINE, presentScopes } from '../../domain/scopes.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import type { Mint } from '../issued-tokens/mint.ts';
import { type Families, lifeOf, subsetOf } from './families.ts';
import { type Grant, type GrantCall, type Granted, type Outcome, refuse } from './grant.ts';
import { createSettling } from './settle.ts';
import * as store from './store.ts';

const REFUSED = 'The code is not valid';
/** Nothing was changed: thrown, so that the endpoint records it. */
const notValid = (reason: string) => new OAuthError('invalid_grant', REFUSED, { reason });
const refused = (tx: Tx, call: GrantCall, reason: string) =>
  refuse(tx, call, { grant: 'authorization_code', description: REFUSED, reason });

interface Ask {
  call: GrantCall;
  redemption: store.Redemption;
}
interface Redeemed {
  row: store.RedeemedRow;
  resources: readonly string[];
  sid: string | undefined;
}

export function codeGrant({
  transact,
  mint,
  families,
  now,
  newId,
}: {
  transact: Transact;
  mint: Pick<Mint, 'forPerson'>;
  families: Families;
  now: () => Date;
  newId: () => string;
}): Grant {
  /** Undefined for each that was not exchanged. */
  async function redeem(tx: Tx, asks: readonly Ask[], held: store.Held): Promise<(Outcome<Redeemed> | undefined)[]> {
    const redeemed = new Array<Outcome<Redeemed> | undefined>(asks.length);
    const redemptions = asks.map(({ redemption }) => redemption);
    for (const row of await store.redeem(tx.sql, redemptions, held)) {
      const ask = asks[row.n];
      if (!ask) continue;
      const { realm, client, by, resources: asked } = ask.call;
      const { request, session_id: sessionId } = row;
      const resources = subsetOf(request.resources, asked);
      // Without a refresh token nothing outlives the session.
      const offline = request.scopes.includes(OFFLINE) && ask.redemption.tokenHash !== null;
      tx.record({
        type: 'TOKEN_ISSUED',
        realm,
        by,
        clientId: client.clientId,
        subject: { type: 'user', id: row.user_id, name: row.username },
        data: { grant: 'authorization_code', scopes: request.scopes, resources, sessionId },
      });
      redeemed[row.n] = { ok: true, value: { row, resources, sid: offline ? undefined : sessionId } };
    }
    return redeemed;
  }

  /** Uses the code up, and says why. */
  async function notRedeemed(tx: Tx, { call, redemption }: Ask): Promise<Outcome<never>> {
    const taken = await store.takeCode(tx.sql, redemption);
    if (!taken) return secondUse(tx, call, redemption.codeHash);
    const { request, expires_at, enabled } = taken;
    const { form } = call;
    if (expires_at <= now()) return refused(tx, call, 'the code has expired');
    if (request.redirectUri !== form.get('redirect_uri')) return refused(tx, call, 'redirect_uri differs');
    if (!pkceHolds(request.codeChallenge, form.get('code_verifier')))
      return refused(tx, call, 'the PKCE verifier does not hold');
    if (!enabled) return refused(tx, call, 'the user is disabled');
    // Thrown, so that the code stays unused: the client may ask again for less.
    subsetOf(request.resources, call.resources);
    return refused(tx, call, 'it changed meanwhile');
  }

  /** A code that was used before, or never was. */
  async function secondUse(tx: Tx, call: GrantCall, codeHash: Buffer): Promise<Outcome<never>> {
    const { realm, client, by } = call;
    const used = await store.familyOfCode(tx.sql, realm, { codeHash, client: client.id });
    if (!used) throw notValid('no such code for this client');
    if (!(await families.end(tx, call, used.family_id))) throw notValid('the code was used before');
    tx.record({
      type: 'TOKEN_REUSE_DETECTED',
      realm,
      by,
      clientId: client.clientId,
      subject: { type: 'user', id: used.user_id, name: null },
      outcome: 'denied',
      data: { what: 'authorization_code' },
    });
    return refused(tx, call, 'the code was used before');
  }

  const settle = createSettling<Ask, Redeemed>({ transact, settle: redeem, otherwise: notRedeemed });

  return {
    grantType: 'authorization_code',
    publicClients: true,
    async authorize(call): Promise<Granted> {
      const { realm, client, settings, form } = call;
      const code = form.get('code');
      if (code === undefined) throw new OAuthError('invalid_request', 'code is missing');
      const redirectUri = form.get('redirect_uri');
      if (redirectUri === undefined) throw new OAuthError('invalid_request', 'redirect_uri is missing');
      if (!wellFormed(code, 'svc_ac_')) throw notValid('not a code');
      const familyId = newId();
      const refreshToken = client.grantTypes.has('refresh_token') ? newRefreshToken(familyId) : undefined;
      const at = now();
      const redemption: store.Redemption = {
        realm,
        client: client.id,
        codeHash: sha256(code),
        redirectUri,
        codeChallenge: challengeOf(form.get('code_verifier')),
        wanted: { resources: call.resources },
        familyId,
        tokenHash: refreshToken?.hash ?? null,
        expiresAt: lifeOf(settings, client, at),
        now: at,
      };
      const { row, resources, sid } = await settle({ call, redemption });
      const { request } = row;
      const minted = await mint.forPerson(realm, client, {
        person: personOf(row),
        about: request.sub,
        scopes: presentScopes(client, request.scopes),
        openid: request.openid,
        resources,
        signedIn: { sid, authTime: request.authTime, acr: request.acr, amr: request.amr },
        gid: grantIdOf(familyId),
        nonce: request.nonce ?? undefined,
      });
      return refreshToken ? { ...minted, refreshToken: refreshToken.token } : minted;
    },
  };
}
