// Checks a client's JWT assertion (private_key_jwt): RFC 7523 §3. Its keys are registered, or fetched from its jwksUri.
// The caller gets the same error for every fault.
import { createLocalJWKSet } from 'jose/jwks/local';
import { jwtVerify } from 'jose/jwt/verify';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { sha256 } from '../../../crypto/tokens.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import { isFirstUse } from '../../../domain/spent-proofs.ts';
import { endpointsOf } from '../../../http/realm-endpoints.ts';
import type { Jwks, WithClientKeys } from '../../configuration/clients/keys.ts';
import { algorithmsFor } from '../../configuration/clients/profile.ts';
import type { ClientView } from '../../configuration/clients/view.ts';

const SKEW_SECONDS = 60;
/** An assertion is meant for one request; a long-lived one would be a stored credential. */
const LONGEST_SECONDS = 3_600;

/** A request object doesn't prove who sends it (RFC 9101 §10.8). */
const OTHER_TYPES = /^(?:application\/)?(?:oauth-authz-req|dpop)\+jwt$/i;

export function createAssertions({
  sql,
  settings,
  withKeys,
  baseUrl,
  now,
}: {
  sql: Sql;
  settings: {
    issuer(realm: string): Promise<string>;
    of(realm: string): Promise<Pick<RealmSettingsDto, 'clientAssertionAudience'> | undefined>;
  };
  withKeys: WithClientKeys;
  baseUrl: string;
  now: () => Date;
}) {
  async function acceptedBy(realm: string, client: ClientView) {
    const issuer = await settings.issuer(realm);
    const audience = client.clientAssertionAudience ?? (await settings.of(realm))?.clientAssertionAudience;
    const older = audience === 'endpoints';
    return { realm, issuer, older };
  }
  type Accepted = Awaited<ReturnType<typeof acceptedBy>>;

  async function verified({ realm, issuer, older }: Accepted, client: ClientView, assertion: string, keys: Jwks) {
    const { token, introspection, revocation, pushedAuthorizationRequest } = endpointsOf(baseUrl, realm);
    const { tokenEndpointAuthSigningAlg: pinned } = client;
    const { payload, protectedHeader } = await jwtVerify(assertion, createLocalJWKSet(keys), {
      algorithms: pinned === null ? [...algorithmsFor(client)] : [pinned],
      issuer: client.clientId,
      subject: client.clientId,
      // Older libraries use the endpoint that they call as the audience.
      audience: older ? [issuer, token, introspection, revocation, pushedAuthorizationRequest] : issuer,
      requiredClaims: ['exp', 'jti', 'aud'],
      clockTolerance: SKEW_SECONDS,
      currentDate: now(),
    });
    if (OTHER_TYPES.test(protectedHeader.typ ?? '')) throw new Error('it is a JWT of another kind');
    // RFC 7523bis: any of several audiences could use the assertion here.
    if (!older && [payload.aud].flat().length !== 1) throw new Error('the audience is not the issuer alone');
    // FAPI 2.0 Security Profile §5.3.2.1: one string, not a list of one.
    if (client.profile !== null && typeof payload.aud !== 'string') throw new Error('the audience is a list');
    if (payload.iat !== undefined && payload.iat > now().getTime() / 1000 + SKEW_SECONDS)
      throw new Error('it was issued at a later time');
    return payload;
  }

  return {
    /** Whether the assertion is this client's, for this realm, still valid, and used for the first time. */
    async holds(realm: string, client: ClientView, assertion: string): Promise<boolean> {
      // Read first: a database that is away refuses no client.
      const accepted = await acceptedBy(realm, client);
      const payload = await withKeys(client, (keys) => verified(accepted, client, assertion, keys)).catch(
        () => undefined,
      );
      if (payload?.exp === undefined || typeof payload.jti !== 'string' || payload.jti === '') return false;
      const at = now().getTime() / 1000;
      if (payload.exp - at > LONGEST_SECONDS + SKEW_SECONDS) return false;
      // The id is stored as long as the assertion could be accepted.
      const until = new Date((payload.exp + SKEW_SECONDS) * 1000);
      const asserted = fragment`
        insert into client_assertion (realm_id, client, jti_hash, expires_at)
        values (${realm}, ${client.id}, ${sha256(payload.jti)}, ${until})`;
      return isFirstUse(sql, asserted);
    },
  };
}
export type Assertions = ReturnType<typeof createAssertions>;
