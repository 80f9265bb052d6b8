// Checks a client's proofs of a key (RFC 9449 §4.3): the request that it signs, its age, and that no replica has seen it before.

import { EmbeddedJWK } from 'jose/jwk/embedded';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import { jwtVerify } from 'jose/jwt/verify';
import { z } from 'zod';
import { clientAlgorithms } from '../contract/algorithms.ts';
import type { DpopNonces } from '../crypto/dpop-nonce.ts';
import { sha256 } from '../crypto/tokens.ts';
import { fragment, type Sql } from '../db/sql.ts';
import { OAuthError } from '../http/oauth-error.ts';
import type { DpopRequest } from '../http/presented-token.ts';
import { isFirstUse } from './spent-proofs.ts';

/** How far the client's clock may differ from the server's. */
const SKEW_SECONDS = 60;

const Proof = z.object({
  jti: z.string().min(1).max(512),
  htm: z.string(),
  htu: z.string().max(2048),
  iat: z.number(),
  nonce: z.string().max(512).optional(),
  ath: z.string().optional(),
});

/** Without query and fragment (RFC 9449 §4.3). */
function addressOf(htu: string): string | undefined {
  if (!URL.canParse(htu)) return undefined;
  const { origin, pathname } = new URL(htu);
  return origin + pathname;
}

/** Checks DPoP proofs (RFC 9449 §4.3) and hands out nonces (§8). @throws OAuthError `invalid_dpop_proof`, `use_dpop_nonce` */
export function createDpop({
  sql,
  nonces,
  baseUrl,
  certificatesAt,
  now,
}: {
  sql: Sql;
  nonces: DpopNonces;
  baseUrl: string;
  /** The further address of the endpoints, at which clients show certificates. */
  certificatesAt?: string | undefined;
  now: () => Date;
}) {
  const addresses = [baseUrl, ...(certificatesAt === undefined ? [] : [certificatesAt])];
  const refused = (reason: string) => new OAuthError('invalid_dpop_proof', 'The DPoP proof is not valid', { reason });

  async function read(proof: string, algorithms: readonly string[]) {
    try {
      const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
        typ: 'dpop+jwt',
        algorithms: [...algorithms],
        currentDate: now(),
        clockTolerance: SKEW_SECONDS,
      });
      const jkt = await calculateJwkThumbprint(protectedHeader.jwk ?? {}, 'sha256');
      return { ...Proof.parse(payload), jkt };
    } catch (cause) {
      throw refused(cause instanceof Error ? cause.message.slice(0, 200) : 'it can’t be read');
    }
  }

  return {
    nonce: nonces.current,

    /**
     * @param accessToken at a resource: the token that the proof must name
     * @param nonce whether the proof must hold a nonce of this server; `checked`: only a nonce that it holds is checked. Resources issue
     *   no nonces and check none.
     * @param algorithms those that the client may sign by; default: all
     * @returns the thumbprint of the key (RFC 7638) @throws OAuthError `invalid_dpop_proof`, `use_dpop_nonce`
     */
    async check(
      realm: string,
      { proof, method, path }: DpopRequest,
      {
        accessToken,
        nonce: wanted,
        algorithms = clientAlgorithms,
      }: { accessToken?: string; nonce: 'needed' | 'checked' | 'ignored'; algorithms?: readonly string[] },
    ): Promise<string> {
      const { jti, htm, htu, iat, nonce, ath, jkt } = await read(proof, algorithms);
      if (htm !== method) throw refused('htm is another method');
      if (!addresses.some((base) => addressOf(htu) === addressOf(base + path))) throw refused('htu is another address');
      if (Math.abs(now().getTime() / 1000 - iat) > SKEW_SECONDS) throw refused('iat is not now');
      if (accessToken !== undefined && ath !== sha256(accessToken).toString('base64url'))
        throw refused('ath is of another token');
      if (wanted !== 'ignored' && (nonce === undefined ? wanted === 'needed' : !nonces.holds(realm, nonce)))
        throw new OAuthError('use_dpop_nonce', 'The proof needs a nonce of this server');
      // as long as the proof would be accepted
      const until = new Date((iat + 2 * SKEW_SECONDS) * 1000);
      const proven = fragment`
        insert into dpop_proof (realm_id, proof_hash, expires_at) values (${realm}, ${sha256(`${jkt} ${jti}`)}, ${until})`;
      if (!(await isFirstUse(sql, proven))) throw refused('it was used before');
      return jkt;
    },
  };
}
export type Dpop = ReturnType<typeof createDpop>;
