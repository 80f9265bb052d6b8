// Owns: signing JWTs with the realm's active key, and verifying them: signature, type, issuer, audience, expiry, client, revocation.
// Does not own: a token's claims (mint.ts), the keys (features/configuration/keys), its permission (features/protocol/token).
// Implements: specification 5 rule 4; RFC 9068 §4; decisions "Protocol paths".

import type { KeyObject } from 'node:crypto';
import { compactVerify } from 'jose/jws/compact/verify';
import { z } from 'zod';
import { SigningAlgorithm } from '../../../contract/algorithms.ts';
import { USERINFO_CLAIM } from '../../../contract/claims.ts';
import type { SecurityProfile } from '../../../contract/security-profiles.ts';
import type { ID_JAG_TYP, JWT_GRANT_TYP, TXN_TOKEN_TYP } from '../../../contract/token-types.ts';
import { type JwtKey, signJwt } from '../../../crypto/jwt.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import type { Dpop } from '../../../domain/dpop.ts';
import { Confirmation, isProven } from '../../../domain/sender.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { PresentedToken } from '../../../http/presented-token.ts';
import { algorithmsFor } from '../clients/profile.ts';
import * as store from './store.ts';

const Claims = z.looseObject({
  iss: z.string(),
  sub: z.string(),
  aud: z.union([z.string(), z.array(z.string())]),
  exp: z.number(),
  iat: z.number().optional(),
  jti: z.string().optional(),
  client_id: z.string().optional(),
  scope: z.string().optional(),
  sid: z.string().optional(),
  /** The grant (refresh family or code) that the token comes from, so that ending the grant ends the token. */
  gid: z.string().optional(),
  cnf: Confirmation.optional(),
  [USERINFO_CLAIM]: z.array(z.string()).optional(),
});
/** The claims of a verified token. */
export type Claims = z.infer<typeof Claims>;

export interface VerifyOptions {
  typ: 'at+jwt' | 'JWT' | typeof TXN_TOKEN_TYP;
  /** An audience that the token must have; absent: any. */
  audience?: string;
  /** An id_token_hint may have expired (OIDC RP-Initiated Logout §2). */
  expired?: 'accepted';
}

export const audiencesOf = ({ aud }: Claims): string[] => (typeof aud === 'string' ? [aud] : aud);

function undefinedIfRefused(thrown: unknown): undefined {
  if (!(thrown instanceof OAuthError)) throw thrown;
}

export function createTokens({
  keys,
  settings,
  clients,
  sql,
  dpop,
  now,
}: {
  keys: {
    active(realm: string, algorithm?: SigningAlgorithm): Promise<JwtKey>;
    published(
      realm: string,
    ): Promise<readonly { keyId: string; publicKey: KeyObject; jwk: { alg: SigningAlgorithm } }[]>;
  };
  settings: { issuer(realm: string): Promise<string> };
  clients: {
    view(realm: string, clientId: string): Promise<{ enabled: boolean; profile: SecurityProfile | null } | undefined>;
  };
  sql: Sql;
  dpop: Pick<Dpop, 'check'>;
  now: () => Date;
}) {
  async function read(realm: string, jwt: string, typ: string): Promise<Claims | undefined> {
    const published = await keys.published(realm);
    try {
      const { payload } = await compactVerify(
        jwt,
        (header) => {
          const key = published.find(({ keyId }) => keyId === header.kid);
          // Each key signs by one algorithm (RFC 8725 §3.1).
          if (!key || header.typ !== typ || header.alg !== key.jwk.alg) throw new Error('not a token of this realm');
          return key.publicKey;
        },
        { algorithms: [...SigningAlgorithm.options] },
      );
      return Claims.parse(JSON.parse(Buffer.from(payload).toString()));
    } catch {
      return undefined;
    }
  }

  /** The claims of a token that this realm issued and that is still valid; undefined for every other token. */
  async function verify(
    realm: string,
    jwt: string,
    { typ, audience, expired }: VerifyOptions,
  ): Promise<Claims | undefined> {
    const claims = await read(realm, jwt, typ);
    if (!claims || claims.iss !== (await settings.issuer(realm))) return undefined;
    if (audience !== undefined && !audiencesOf(claims).includes(audience)) return undefined;
    if (expired === 'accepted') return claims;
    if (claims.exp * 1000 <= now().getTime()) return undefined;
    // An access token is valid only while its client is enabled, and the client's agent isn't suspended.
    if (typ === 'at+jwt' && !(await clients.view(realm, claims.client_id ?? ''))?.enabled) return undefined;
    const { jti, gid, sid } = claims;
    return (await store.isRevoked(sql, realm, { ids: [jti, gid], sid, now: now() })) ? undefined : claims;
  }

  return {
    verify,

    /**
     * Verifies an access token of an API request. A token that is bound to a key needs a proof of it (RFC 9449 §7), and one
     * that is bound to a certificate needs a connection by that certificate (RFC 8705 §3); any other is a bearer token.
     */
    async present(
      realm: string,
      { token, dpop: proof, x5t }: PresentedToken,
      { audience }: { audience: string },
    ): Promise<Claims | undefined> {
      const claims = await verify(realm, token, { typ: 'at+jwt', audience });
      if (!claims || (claims.cnf?.jkt === undefined) !== (proof === undefined)) return undefined;
      if (!proof) return isProven(claims, { x5t }) ? claims : undefined;
      const client = await clients.view(realm, claims.client_id ?? '');
      const algorithms = algorithmsFor({ profile: client?.profile ?? null });
      const proven = dpop.check(realm, proof, { accessToken: token, nonce: 'ignored', algorithms });
      const jkt = await proven.catch(undefinedIfRefused);
      return isProven(claims, { jkt, x5t }) ? claims : undefined;
    },

    /**
     * Signs complete claims. `typ`: `at+jwt` for access tokens (RFC 9068), `JWT` for ID tokens, userinfo and authorization
     * responses.
     * @param algorithm null: the default one
     */
    sign: async (
      realm: string,
      {
        typ,
        algorithm,
      }: {
        typ:
          | 'at+jwt'
          | 'JWT'
          | 'logout+jwt'
          | 'secevent+jwt'
          | 'token-introspection+jwt'
          | typeof ID_JAG_TYP
          | typeof JWT_GRANT_TYP
          | typeof TXN_TOKEN_TYP;
        algorithm: SigningAlgorithm | null;
      },
      claims: object,
    ): Promise<string> => signJwt(await keys.active(realm, algorithm ?? undefined), typ, claims),

    /** Refuses an access token until it would end anyway; false: it was refused before. */
    revoke: (tx: Tx, realm: string, jti: string, until: Date): Promise<boolean> =>
      store.revoke(tx.sql, realm, jti, until),
  };
}
export type Tokens = ReturnType<typeof createTokens>;
