// Checks a client's JWT assertion (private_key_jwt): RFC 7523 §3. Its keys are registered, or fetched from its jwksUri.
// Everything that may be wrong is the same "no" to the caller.
import { createLocalJWKSet, jwtVerify } from 'jose';
import { z } from 'zod';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import { sha256 } from '../../crypto/tokens.ts';
import type { Sql } from '../../db/sql.ts';
import { endpointsOf } from '../../http/realm-endpoints.ts';
import type { ClientView } from '../clients/view.ts';
import type { RemoteKeys } from './remote-keys.ts';

const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
export const assertionAlgorithms: readonly string[] = ALGORITHMS;
const SKEW_SECONDS = 60;
/** An assertion is made for one request; a long-lived one is somebody's stored credential. */
const LONGEST_SECONDS = 3_600;

const Jwk = z.looseObject({ kty: z.enum(['RSA', 'EC', 'OKP']) });
/** A set may hold keys of other kinds, for other purposes: they count for nothing (RFC 7517 §5). */
const Jwks = z
  .object({ keys: z.array(z.unknown()).max(100) })
  .transform(({ keys }) => ({ keys: keys.flatMap((key) => Jwk.safeParse(key).data ?? []) }));

export function createAssertions({
  sql,
  settings,
  remoteKeys,
  baseUrl,
  now,
}: {
  sql: Sql;
  settings: {
    issuer(realm: string): Promise<string>;
    of(realm: string): Promise<Pick<RealmSettingsDto, 'clientAssertionAudience'> | undefined>;
  };
  remoteKeys: RemoteKeys;
  baseUrl: string;
  now: () => Date;
}) {
  async function verified(realm: string, client: ClientView, assertion: string, keys: z.infer<typeof Jwks>) {
    const issuer = await settings.issuer(realm);
    const older = (await settings.of(realm))?.clientAssertionAudience === 'endpoints';
    const { token, introspection, revocation, pushedAuthorizationRequest } = endpointsOf(baseUrl, realm);
    const { payload } = await jwtVerify(assertion, createLocalJWKSet(keys), {
      algorithms: ALGORITHMS,
      issuer: client.clientId,
      subject: client.clientId,
      // Older libraries name the endpoint that they call.
      audience: older ? [issuer, token, introspection, revocation, pushedAuthorizationRequest] : issuer,
      requiredClaims: ['exp', 'jti', 'aud'],
      clockTolerance: SKEW_SECONDS,
      currentDate: now(),
    });
    // RFC 7523bis: who is sent an assertion that is also for us could use it here.
    if (!older && [payload.aud].flat().length !== 1) throw new Error('the audience is not the issuer alone');
    return payload;
  }

  async function payloadOf(realm: string, client: ClientView, assertion: string) {
    if (client.jwks) return verified(realm, client, assertion, Jwks.parse(client.jwks));
    if (!client.jwksUri) return undefined;
    const uri = client.jwksUri;
    try {
      return await verified(realm, client, assertion, Jwks.parse(await remoteKeys.get(uri)));
    } catch (error) {
      // The client may have rotated its keys since they were fetched.
      const fresh = await remoteKeys.renewed(uri);
      if (!fresh) throw error;
      return verified(realm, client, assertion, Jwks.parse(fresh));
    }
  }

  return {
    /** Whether the assertion is this client's, for this realm, still good, and seen for the first time. */
    async holds(realm: string, client: ClientView, assertion: string): Promise<boolean> {
      const payload = await payloadOf(realm, client, assertion).catch(() => undefined);
      if (payload?.exp === undefined || typeof payload.jti !== 'string' || payload.jti === '') return false;
      const at = now().getTime() / 1000;
      if (payload.exp - at > LONGEST_SECONDS + SKEW_SECONDS) return false;
      // Kept as long as it could be accepted.
      const until = new Date((payload.exp + SKEW_SECONDS) * 1000);
      const [first] = await sql<{ client: string }>`
        insert into client_assertion (realm_id, client, jti_hash, expires_at)
        values (${realm}, ${client.id}, ${sha256(payload.jti)}, ${until}) on conflict do nothing returning client`;
      return first !== undefined;
    },
  };
}
export type Assertions = ReturnType<typeof createAssertions>;
