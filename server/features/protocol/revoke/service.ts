// Owns: revocation: a refresh token ends its grant with the access tokens, an access token ends alone.
// Does not own: looking revocations up (features/configuration/issued-tokens).
// Implements: RFC 7009; an unknown or foreign token is answered like a revoked one.
import type { By } from '../../../contract/events.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { parseRefreshToken } from '../../../crypto/refresh-token.ts';
import type { Transact } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import { isPersons, type Subjects } from '../../../domain/subjects.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';
import { type Authenticated, workloadOf } from '../client-authentication/service.ts';
import type { Families } from '../token/families.ts';

export function createRevocation({
  transact,
  tokens,
  subjects,
  families,
  settings,
}: {
  transact: Transact;
  tokens: Pick<Tokens, 'verify' | 'revoke'>;
  subjects: Pick<Subjects, 'find'>;
  families: Families;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
}) {
  async function refreshToken(by: By, realm: string, who: Authenticated, token: string): Promise<void> {
    const { client } = who;
    const presented = parseRefreshToken(token);
    const ofRealm = await settings.of(realm);
    if (!presented || !ofRealm) return;
    const { familyId } = presented;
    await transact(realm, async (tx) => {
      const family = await families.read(tx, realm, client, familyId);
      if (!family || family.revoked_at) return;
      if (!(await families.end(tx, { realm, settings: ofRealm, client }, familyId))) return;
      tx.record({
        type: 'TOKEN_REVOKED',
        realm,
        by,
        clientId: client.clientId,
        subject: userParty(family.user_id, null),
        data: { what: 'refresh_token', ...workloadOf(who) },
      });
    });
  }

  async function accessToken(by: By, realm: string, who: Authenticated, token: string): Promise<void> {
    const { client } = who;
    const claims = await tokens.verify(realm, token, { typ: 'at+jwt' });
    if (claims?.client_id !== client.clientId || claims.jti === undefined) return;
    const { jti, exp } = claims;
    const id = isPersons(claims) ? subjects.find(realm, claims) : undefined;
    await transact(realm, async (tx) => {
      if (!(await tokens.revoke(tx, realm, jti, new Date(exp * 1000)))) return;
      tx.record({
        type: 'TOKEN_REVOKED',
        realm,
        by,
        clientId: client.clientId,
        subject: id === undefined ? { type: 'client', id: claims.sub, name: null } : userParty(id, null),
        data: { what: 'access_token', jti, ...workloadOf(who) },
      });
    });
  }

  return {
    /** The form of a token tells its type; `token_type_hint` isn't needed. */
    revoke: (by: By, realm: string, who: Authenticated, token: string): Promise<void> =>
      token.startsWith('svc_rt_') ? refreshToken(by, realm, who, token) : accessToken(by, realm, who, token),
  };
}
export type Revocation = ReturnType<typeof createRevocation>;
