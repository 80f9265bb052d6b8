// The authorization_code grant: a code works once, for its client, its redirect_uri and its PKCE verifier; a second use ends
// everything that the first one gave. RFC 6749 §4.1.3, RFC 7636 §4.6, RFC 9700 §4.5.

import { pkceHolds } from '../../crypto/pkce.ts';
import { grantIdOf, newRefreshToken } from '../../crypto/refresh-token.ts';
import { sha256, wellFormed } from '../../crypto/tokens.ts';
import { personOf } from '../../db/person.ts';
import type { Transact, Tx } from '../../db/transact.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import { OFFLINE, presentScopes } from '../../http/scopes.ts';
import type { Mint } from '../tokens/mint.ts';
import { type Families, lifeOf, subsetOf } from './families.ts';
import { type Grant, type GrantCall, type Granted, type Outcome, refuse } from './grant.ts';
import * as store from './store.ts';

const REFUSED = 'The code is not valid';
/** Nothing was changed: thrown, so that the endpoint records it. */
const notValid = (reason: string) => new OAuthError('invalid_grant', REFUSED, { reason });
const refused = (tx: Tx, call: GrantCall, reason: string) =>
  refuse(tx, call, { grant: 'authorization_code', description: REFUSED, reason });
type Taken = NonNullable<Awaited<ReturnType<typeof store.takeCode>>>;

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

  function fault({ request, expires_at, enabled }: Taken, { form }: GrantCall): string | undefined {
    if (expires_at <= now()) return 'the code has expired';
    if (request.redirectUri !== form.get('redirect_uri')) return 'redirect_uri differs';
    if (!pkceHolds(request.codeChallenge, form.get('code_verifier'))) return 'the PKCE verifier does not hold';
    return enabled ? undefined : 'the user is disabled';
  }

  async function exchange(tx: Tx, call: GrantCall, code: string, familyId: string): Promise<Outcome<Exchanged>> {
    const { realm, client, settings, by } = call;
    const codeHash = sha256(code);
    const taken = await store.takeCode(tx.sql, realm, { codeHash, client: client.id, familyId, now: now() });
    if (!taken) return secondUse(tx, call, codeHash);
    const reason = fault(taken, call);
    if (reason !== undefined) return refused(tx, call, reason);
    const { request, session_id: sessionId } = taken;
    const resources = subsetOf(request.resources, call.resources);
    // Without a refresh token nothing outlives the session.
    const offline = request.scopes.includes(OFFLINE) && client.grantTypes.has('refresh_token');
    let refreshToken: string | undefined;
    if (client.grantTypes.has('refresh_token')) {
      const made = newRefreshToken(familyId);
      refreshToken = made.token;
      const life = lifeOf(settings, client, now());
      store.insertFamily(tx, realm, {
        id: familyId,
        client: client.id,
        userId: taken.user_id,
        sessionId: offline ? null : sessionId,
        data: request,
        tokenHash: made.hash,
        now: now(),
        expiresAt: offline || life < taken.session_expires_at ? life : taken.session_expires_at,
      });
    }
    tx.record({
      type: 'TOKEN_ISSUED',
      realm,
      by,
      clientId: client.clientId,
      subject: { type: 'user', id: taken.user_id, name: taken.username },
      data: { grant: 'authorization_code', scopes: request.scopes, resources, sessionId },
    });
    return { ok: true, value: { taken, resources, refreshToken, sid: offline ? undefined : sessionId } };
  }

  return {
    grantType: 'authorization_code',
    publicClients: true,
    async authorize(call): Promise<Granted> {
      const { realm, client, form } = call;
      const code = form.get('code');
      if (code === undefined) throw new OAuthError('invalid_request', 'code is missing');
      if (form.get('redirect_uri') === undefined) throw new OAuthError('invalid_request', 'redirect_uri is missing');
      if (!wellFormed(code, 'svc_ac_')) throw notValid('not a code');
      const familyId = newId();
      const outcome = await transact((tx) => exchange(tx, call, code, familyId));
      if (!outcome.ok) throw outcome.refusal;
      const { taken, resources, refreshToken, sid } = outcome.value;
      const { request } = taken;
      const minted = await mint.forPerson(realm, client, {
        person: personOf(taken),
        scopes: presentScopes(client, request.scopes),
        openid: request.openid,
        resources,
        signedIn: { sid, authTime: request.authTime, acr: request.acr, amr: request.amr },
        gid: grantIdOf(familyId),
        nonce: request.nonce ?? undefined,
      });
      return refreshToken === undefined ? minted : { ...minted, refreshToken };
    },
  };
}

interface Exchanged {
  taken: Taken;
  resources: readonly string[];
  refreshToken: string | undefined;
  sid: string | undefined;
}
