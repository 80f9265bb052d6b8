// The refresh_token grant: tokens rotate; one that was replaced and comes again ends its grant. Of two parallel uses exactly
// one wins. RFC 6749 §6, RFC 9700 §4.14. Tokens are signed after the commit: the row lock is as short as it can be.
import { grantIdOf, newRefreshToken, parseRefreshToken, type RefreshToken } from '../../crypto/refresh-token.ts';
import type { Transact, Tx } from '../../db/transact.ts';
import type { Factor, Factors } from '../../domain/factors.ts';
import { personOf } from '../../domain/person.ts';
import { OPENID, presentScopes } from '../../domain/scopes.ts';
import { cutoffsOf } from '../../domain/session.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import type { Mint } from '../issued-tokens/mint.ts';
import type { Passed, SignIns } from '../sign-in/service.ts';
import { type Families, lifeOf, subsetOf } from './families.ts';
import { type Grant, type GrantCall, type Granted, type Outcome, refuse } from './grant.ts';
import { createSettling } from './settle.ts';
import * as store from './store.ts';

const REFUSED = 'The refresh token is not valid';
/** Nothing was changed: thrown, so that the endpoint records it. */
const notValid = (reason: string) => new OAuthError('invalid_grant', REFUSED, { reason });
/** How stale a session's `last_seen_at` may get, so that not each refresh writes it. */
const TOUCH_MS = 10_000;

const refused = (tx: Tx, call: GrantCall, reason: string) =>
  refuse(tx, call, { grant: 'refresh_token', description: REFUSED, reason });

interface Ask {
  call: GrantCall;
  rotation: store.Rotation;
  /** Whether that is still all that the client's flow and the realm ask for. */
  isEnough(passed: Passed): boolean;
}
interface Rotated {
  row: store.RotatedRow;
  resources: readonly string[];
  scopes: readonly string[];
}

export function refreshGrant({
  transact,
  mint,
  families,
  signIns,
  factors,
  now,
}: {
  transact: Transact;
  mint: Pick<Mint, 'forPerson'>;
  families: Families;
  signIns: Pick<SignIns, 'judgeFor'>;
  factors: Factors;
  now: () => Date;
}): Grant {
  /** What the grant rests on: all that its session has proven, or what the person had where it outlives that. */
  function provenFor(row: store.RotatedRow): readonly Factor[] {
    const { session_factors, session_methods, session_started_at, grant_data: grant } = row;
    if (session_started_at === null) return grant.factors ?? factors.ofAmr(grant.amr, new Date(grant.authTime * 1000));
    return session_factors ?? factors.ofAmr(session_methods ?? [], session_started_at);
  }

  /** Undefined for each that was not taken. What isn't enough any more ends. */
  async function rotate(tx: Tx, asks: readonly Ask[], held: store.Held): Promise<(Outcome<Rotated> | undefined)[]> {
    const rotated = new Array<Outcome<Rotated> | undefined>(asks.length);
    const over: { call: GrantCall; familyId: string }[] = [];
    const rotations = asks.map(({ rotation }) => rotation);
    for (const row of await store.rotate(tx.sql, rotations, held)) {
      const ask = asks[row.n];
      if (!ask) continue;
      const { call } = ask;
      if (!ask.isEnough({ factors: provenFor(row), types: row.types, findings: row.session_risk })) {
        over.push({ call, familyId: ask.rotation.familyId });
        rotated[row.n] = refused(tx, call, 'more has to be proven than was');
        continue;
      }
      const { realm, client, by } = call;
      const resources = subsetOf(row.grant_data.resources, call.resources);
      const scopes = narrowed(row.grant_data, call.scopes);
      tx.record({
        type: 'TOKEN_REFRESHED',
        realm,
        by,
        clientId: client.clientId,
        subject: { type: 'user', id: row.user_id, name: row.username },
        data: { scopes, resources, generation: row.generation, sessionId: row.session_id },
      });
      rotated[row.n] = { ok: true, value: { row, resources, scopes } };
    }
    if (over.length > 0) await families.endAll(tx, over);
    return rotated;
  }

  /** Says why, and ends the grant where its token was used before. */
  async function notTaken(tx: Tx, { call, rotation }: Ask): Promise<Outcome<never>> {
    const { realm, client, by } = call;
    const { familyId, presented } = rotation;
    const family = await families.read(tx, realm, client, familyId);
    if (!family) throw notValid('no such grant of this client');
    if (family.revoked_at) throw notValid('the grant was revoked');
    if (family.token_hash.equals(presented)) {
      if (family.expires_at <= now()) throw notValid('the token has expired');
      if (!family.enabled) {
        await families.end(tx, call, familyId);
        return refused(tx, call, 'the user is disabled');
      }
      // Nothing was rotated: the client may ask again for less.
      subsetOf(family.grant_data.resources, call.resources);
      const allowed = allowedFor(call);
      if (allowed && !family.grant_data.resources.every((resource) => allowed.includes(resource)))
        throw new OAuthError('invalid_target', 'A resource that was granted is not allowed any more');
      narrowed(family.grant_data, call.scopes);
      throw notValid('its session has ended');
    }
    await families.end(tx, call, familyId);
    tx.record({
      type: 'TOKEN_REUSE_DETECTED',
      realm,
      by,
      clientId: client.clientId,
      subject: { type: 'user', id: family.user_id, name: null },
      outcome: 'denied',
      data: { what: 'refresh_token' },
    });
    return refused(tx, call, 'the token was used before');
  }

  const settle = createSettling<Ask, Rotated>({ transact, settle: rotate, otherwise: notTaken });

  function rotationOf(call: GrantCall, presented: RefreshToken, next?: Buffer): store.Rotation {
    const { realm, client, settings, resources, scopes } = call;
    const at = now();
    return {
      realm,
      client: client.id,
      familyId: presented.familyId,
      presented: presented.hash,
      next: next ?? presented.hash,
      expiresAt: next ? lifeOf(settings, client, at) : null,
      wanted: {
        resources,
        scopes: scopes?.filter((name) => name !== OPENID) ?? [],
        ...(scopes?.includes(OPENID) && { openid: true as const }),
      },
      allowed: allowedFor(call),
      cutoffs: cutoffsOf(settings, at),
      touchBefore: new Date(at.getTime() - TOUCH_MS),
    };
  }

  return {
    grantType: 'refresh_token',
    publicClients: true,
    async authorize(call): Promise<Granted> {
      const { realm, client, settings, form } = call;
      const token = form.get('refresh_token');
      if (token === undefined) throw new OAuthError('invalid_request', 'refresh_token is missing');
      const presented = parseRefreshToken(token);
      if (!presented) throw notValid('not a refresh token');
      const next = settings.reuseRefreshTokens ? undefined : newRefreshToken(presented.familyId);
      const { row, resources, scopes } = await settle({
        call,
        rotation: rotationOf(call, presented, next?.hash),
        isEnough: await signIns.judgeFor(realm, client.flowOverride ?? undefined),
      });
      const { authTime, acr, amr, sub } = row.grant_data;
      const minted = await mint.forPerson(realm, client, {
        person: personOf(row),
        about: sub,
        scopes: presentScopes(client, scopes),
        openid: scopes.includes(OPENID),
        resources,
        signedIn: { sid: row.session_id ?? undefined, authTime, acr, amr },
        gid: grantIdOf(presented.familyId),
      });
      return { ...minted, refreshToken: next?.token ?? token };
    },
  };
}

/** What must hold all of the grant's resources; null: the request names its own, which the endpoint has checked. */
const allowedFor = ({ resources, presentResources }: GrantCall): readonly string[] | null =>
  resources.length > 0 ? null : presentResources();

/** RFC 6749 §6: a narrower scope for this one token; the refresh token keeps its own. */
function narrowed(granted: store.GrantData, requested: readonly string[] | undefined): string[] {
  const all = granted.openid ? [OPENID, ...granted.scopes] : granted.scopes;
  if (requested === undefined) return all;
  if (!requested.every((name) => all.includes(name))) {
    throw new OAuthError('invalid_scope', 'A requested scope was not granted');
  }
  return all.filter((name) => requested.includes(name));
}
