// Codes: each works once, for its client; a second use ends the grant that the first use began. The authorization_code
// grant, whose codes have a redirect_uri and a PKCE verifier, is below; polled.ts has the grants whose codes are polled.
// RFC 6749 §4.1.3, RFC 7636 §4.6, RFC 9700 §4.5.
import { type GrantType, grantBodies } from '../../../contract/oauth.ts';
import { grantIdOf, newRefreshToken } from '../../../crypto/refresh-token.ts';
import { sha256, wellFormed } from '../../../crypto/tokens.ts';
import type { Fragment } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { typesOf } from '../../../domain/authorization-details.ts';
import * as grants from '../../../domain/grants.ts';
import { userParty } from '../../../domain/party.ts';
import { personOf } from '../../../domain/person.ts';
import { OFFLINE, presentScopes } from '../../../domain/scopes.ts';
import { senderOf } from '../../../domain/sender.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { causeOf } from '../../../telemetry/spans.ts';
import type { Mint } from '../../configuration/issued-tokens/mint.ts';
import type { AuthorizationDetails } from '../authorization-details/service.ts';
import { workloadOf } from '../client-authentication/service.ts';
import { accessLifeOf, type Families, lifeOf } from './families.ts';
import type { Grant, GrantCall, Granted } from './grant.ts';
import { type CodeRequest, judgeCode, type Verdict, type Wanted } from './judge.ts';
import { createRedeeming, type RedeemedRow, type Redemption } from './redeem.ts';

interface CodeRedemption<Request extends Wanted> extends Redemption {
  codeHash: Buffer;
  request: Request;
  /** The grant that the code begins. */
  familyId: string;
  /** The hash of the grant's refresh token; null: the client gets none. */
  tokenHash: Buffer | null;
}

/** Whether the grant outlives the session. Without a refresh token it can't. */
const isOffline = ({ row }: RedeemedRow<grants.CodeRow>, tokenHash: Buffer | null): boolean =>
  tokenHash !== null && row.request.scopes.includes(OFFLINE);

export interface CodeDeps {
  transact: Transact;
  mint: Pick<Mint, 'forPerson'>;
  details: Pick<AuthorizationDetails, 'present'>;
  families: Families;
  now: () => Date;
  newId: () => string;
}

/** Issues tokens for one kind of codes. */
export function createCodes<Request extends Wanted>(
  { transact, mint, details, families, now, newId }: CodeDeps,
  {
    grantType,
    table,
    judge,
  }: { grantType: GrantType; table: Fragment; judge(row: grants.CodeRow | undefined, request: Request): Verdict },
) {
  const redeem = createRedeeming<CodeRedemption<Request>, grants.CodeRow>({
    transact,
    families,
    grantType,
    lock: (sql, redemptions, whenLocked) =>
      grants.lockCodes(
        sql,
        redemptions.map(({ call, codeHash }) => ({ realm: call.realm, client: call.client.id, codeHash })),
        whenLocked,
        table,
      ),
    judge: ({ request }, row) => judge(row, request),
    take(tx, passed) {
      grants.takeCodes(
        tx.atLast,
        passed.map(({ redemption, taken }) => {
          const { call, codeHash, familyId, tokenHash, request } = redemption;
          const life = lifeOf(call.settings, call.client, request.now);
          const offline = isOffline(taken, tokenHash);
          const { session_expires_at: ends } = taken.row;
          return {
            realm: call.realm,
            codeHash,
            now: request.now,
            familyId,
            tokenHash,
            ...(tokenHash === null && { accessUntil: accessLifeOf(call.settings, call.client, request.now) }),
            offline,
            // A client that authenticates needs no further proof for its refresh tokens (RFC 9449 §5, RFC 8705 §4).
            bound: call.who.confidential ? undefined : senderOf(call.cnf),
            expiresAt: offline || life < ends ? life : ends,
          };
        }),
        table,
      );
      for (const { redemption, taken } of passed) {
        const { realm, client, by } = redemption.call;
        const { row, resources } = taken;
        tx.record({
          cause: causeOf(redemption),
          type: 'TOKEN_ISSUED',
          realm,
          by,
          clientId: client.clientId,
          subject: userParty(row.user_id, row.username),
          data: {
            grant: grantType,
            scopes: row.request.scopes,
            resources,
            sessionId: row.session_id,
            ...typesOf(redemption.call.details ?? row.request.authorizationDetails),
            ...(row.request.act && { impersonator: row.request.act }),
            ...workloadOf(redemption.call.who),
          },
        });
      }
    },
    familyOf: ({ family_id: familyId, user_id: userId }) => (familyId === null ? undefined : { familyId, userId }),
    useUp(tx, { call: { realm }, codeHash, familyId, request }) {
      grants.takeCodes(tx.atLast, [{ realm, codeHash, familyId, now: request.now, tokenHash: null }], table);
    },
  });

  /** @param authReqId of the tokens that the server pushes */
  return async (
    call: GrantCall,
    codeHash: Buffer,
    more: Omit<Request, keyof Wanted>,
    authReqId?: string,
  ): Promise<Granted> => {
    const { realm, client, resources: asked, presentResources, sender, cnf } = call;
    const familyId = newId();
    const refreshToken = client.grantTypes.has('refresh_token') ? newRefreshToken(familyId) : undefined;
    const tokenHash = refreshToken?.hash ?? null;
    const taken = await redeem({
      call,
      key: codeHash.toString('base64url'),
      codeHash,
      familyId,
      tokenHash,
      request: { ...more, now: now(), resources: asked, presentResources, details: call.details, sender } as Request,
    });
    const { row, resources } = taken;
    const { request } = row;
    const minted = await mint.forPerson(realm, client, {
      person: personOf(row),
      about: request.sub,
      scopes: presentScopes(client, request.scopes),
      openid: request.openid,
      resources,
      signedIn: {
        sid: isOffline(taken, tokenHash) ? undefined : row.session_id,
        authTime: request.authTime,
        acr: request.acr,
        amr: request.amr,
      },
      gid: grantIdOf(familyId),
      cnf,
      nonce: request.nonce ?? undefined,
      claims: request.claims,
      details: await details.present(realm, client, call.details ?? request.authorizationDetails ?? []),
      granted: request.authorizationDetails,
      ...(request.act && { acting: { by: request.act, until: row.session_expires_at } }),
      ...(authReqId !== undefined && { pushed: { authReqId, refreshToken: refreshToken?.token } }),
    });
    return refreshToken ? { ...minted, refreshToken: refreshToken.token } : minted;
  };
}

export function codeGrant(deps: CodeDeps): Grant<typeof grantBodies.authorization_code> {
  const grantType = 'authorization_code';
  const { authorization: table } = grants.codeTables;
  const tokensFor = createCodes<CodeRequest>(deps, { grantType, table, judge: judgeCode });
  return {
    grantType,
    body: grantBodies.authorization_code,
    clientAuth: 'any',
    scopePolicy: 'granted',
    resourcePolicy: 'granted',
    takesDetails: true,
    ownBehalf: () => false,
    async authorize(call) {
      const { code, redirect_uri: redirectUri, code_verifier: verifier } = call.body;
      if (!wellFormed(code, 'svc_ac_'))
        throw new OAuthError('invalid_grant', 'The code is not valid', { reason: 'not a code' });
      return tokensFor(call, sha256(code), { redirectUri, verifier });
    },
  };
}
