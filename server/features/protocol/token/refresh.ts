// The refresh_token grant. Tokens rotate; a replaced token that comes again ends its grant. Of two parallel uses exactly
// one wins. RFC 6749 §6, RFC 9700 §4.14. Tokens are signed after the commit: the row lock is as short as it can be.
import { grantBodies } from '../../../contract/oauth.ts';
import { grantIdOf, newRefreshToken, parseRefreshToken } from '../../../crypto/refresh-token.ts';
import type { Transact } from '../../../db/transact.ts';
import { typesOf } from '../../../domain/authorization-details.ts';
import type { Factor, Factors } from '../../../domain/factors.ts';
import * as grants from '../../../domain/grants.ts';
import { userParty } from '../../../domain/party.ts';
import { personOf } from '../../../domain/person.ts';
import { OPENID, presentScopes } from '../../../domain/scopes.ts';
import { cutoffsOf } from '../../../domain/session.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { causeOf } from '../../../telemetry/spans.ts';
import type { SignIns } from '../../authentication/sign-in/service.ts';
import type { Mint } from '../../configuration/issued-tokens/mint.ts';
import type { AuthorizationDetails } from '../authorization-details/service.ts';
import { workloadOf } from '../client-authentication/service.ts';
import { type Families, lifeOf } from './families.ts';
import type { Grant } from './grant.ts';
import { judgeRefresh, type RefreshRequest } from './judge.ts';
import { createRedeeming, type Redemption } from './redeem.ts';

/** The maximum age of a session's `last_seen_at`, so that not each refresh writes it. */
const TOUCH_MS = 10_000;

interface RefreshRedemption extends Redemption {
  familyId: string;
  request: RefreshRequest;
  /** The token that replaces this one; undefined: tokens may be used more than once. */
  next: Buffer | undefined;
}

export interface RefreshGrantDeps {
  transact: Transact;
  mint: Pick<Mint, 'forPerson'>;
  details: Pick<AuthorizationDetails, 'present'>;
  families: Families;
  /** Judges whether the proven factors still suffice; loaded with the first refresh. */
  proven(): Promise<{ signIns: Pick<SignIns, 'judgeFor'>; factors: Pick<Factors, 'ofAmr'> }>;
  now: () => Date;
}

export function refreshGrant({
  transact,
  mint,
  details,
  families,
  proven,
  now,
}: RefreshGrantDeps): Grant<typeof grantBodies.refresh_token> {
  const grantType = 'refresh_token';

  /** The factors behind the grant: those of its session; or those at its beginning, if the grant outlives the session. */
  function provenFor(row: grants.FamilyRow, factors: Pick<Factors, 'ofAmr'>): readonly Factor[] {
    const { session_factors, session_methods, session_started_at, grant_data: grant } = row;
    if (session_started_at === null) return grant.factors ?? factors.ofAmr(grant.amr, new Date(grant.authTime * 1000));
    return session_factors ?? factors.ofAmr(session_methods ?? [], session_started_at);
  }

  /** When the refresh token expires: a new token has its own lifetime, but none outlives its session. */
  function endOf(
    { call, next, request }: RefreshRedemption,
    { expires_at, session_expires_at: session }: grants.FamilyRow,
  ): Date {
    const own = next ? lifeOf(call.settings, call.client, request.now) : expires_at;
    return session && session < own ? session : own;
  }

  const redeem = createRedeeming<RefreshRedemption, grants.FamilyRow>({
    transact,
    families,
    grantType,
    lock: (sql, redemptions, whenLocked) =>
      grants.lockFamilies(
        sql,
        redemptions.map(({ call: { realm, client, settings }, familyId, request }) => ({
          realm,
          client: client.id,
          familyId,
          cutoffs: cutoffsOf(settings, request.now),
        })),
        whenLocked,
      ),
    judge: ({ request }, row) => judgeRefresh(row, request),
    take(tx, passed) {
      grants.rotateFamilies(
        tx.atLast,
        passed.map(({ redemption, taken: { row } }) => ({
          realm: redemption.call.realm,
          familyId: redemption.familyId,
          presented: redemption.request.presented,
          next: redemption.next ?? redemption.request.presented,
          expiresAt: endOf(redemption, row),
          now: redemption.request.now,
          touch:
            row.session_last_seen_at && redemption.request.now.getTime() - row.session_last_seen_at.getTime() > TOUCH_MS
              ? row.session_id
              : null,
        })),
      );
      for (const { redemption, taken } of passed) {
        const { realm, client, by } = redemption.call;
        const { row, scopes, resources } = taken;
        tx.record({
          cause: causeOf(redemption),
          type: 'TOKEN_REFRESHED',
          realm,
          by,
          clientId: client.clientId,
          subject: userParty(row.user_id, row.username),
          data: {
            scopes,
            resources,
            generation: row.generation + 1,
            sessionId: row.session_id,
            ...typesOf(redemption.call.details ?? row.grant_data.authorizationDetails),
            ...(row.grant_data.act && { impersonator: row.grant_data.act }),
            ...workloadOf(redemption.call.who),
          },
        });
      }
    },
    familyOf: (row) => ({ familyId: row.family_id, userId: row.user_id }),
  });

  return {
    grantType,
    body: grantBodies.refresh_token,
    clientAuth: 'any',
    scopePolicy: 'granted',
    resourcePolicy: 'granted',
    takesDetails: true,
    ownBehalf: () => false,
    async authorize(call) {
      const { realm, client, settings, presentResources } = call;
      const token = call.body.refresh_token;
      const presented = parseRefreshToken(token);
      if (!presented)
        throw new OAuthError('invalid_grant', 'The refresh token is not valid', { reason: 'not a refresh token' });
      const { familyId } = presented;
      const next = (client.reuseRefreshTokens ?? settings.reuseRefreshTokens) ? undefined : newRefreshToken(familyId);
      const { signIns, factors } = await proven();
      const isEnough = await signIns.judgeFor(realm, {
        clientId: client.clientId,
        flow: client.flowOverride ?? undefined,
      });
      const { row, resources, scopes } = await redeem({
        call,
        key: familyId,
        familyId,
        next: next?.hash,
        request: {
          now: now(),
          sender: call.sender,
          presented: presented.hash,
          resources: call.resources,
          presentResources,
          details: call.details,
          scopes: call.requestedScopes,
          // An impersonated session counts no factor of the user, so none is demanded. A device that approved by the
          // backchannel met no flow.
          isEnough: (family) =>
            family.grant_data.act !== undefined ||
            family.grant_data.backchannel === true ||
            isEnough({
              factors: provenFor(family, factors),
              types: family.types,
              findings: family.session_risk,
              is: personOf(family),
            }),
        },
      });
      const { authTime, acr, amr, sub, claims, act, authorizationDetails = [] } = row.grant_data;
      const minted = await mint.forPerson(realm, client, {
        person: personOf(row),
        about: sub,
        scopes: presentScopes(client, scopes),
        openid: scopes.includes(OPENID),
        resources,
        signedIn: { sid: row.session_id ?? undefined, authTime, acr, amr },
        gid: grantIdOf(familyId),
        cnf: call.cnf,
        claims,
        details: await details.present(realm, client, call.details ?? authorizationDetails),
        granted: authorizationDetails,
        ...(act && row.session_expires_at && { acting: { by: act, until: row.session_expires_at } }),
      });
      return { ...minted, refreshToken: next?.token ?? token };
    },
  };
}
