// The user of a token that a client exchanges for a grant of another domain, and how they had signed in. RFC 8693 §2.1;
// draft-ietf-oauth-identity-assertion-authz-grant §4.3.3.
import { ACCESS_TOKEN_TYPE } from '../../../contract/oauth.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { ID_JAG_TYPE, ID_TOKEN_TYPE, REFRESH_TOKEN_TYPE } from '../../../contract/token-types.ts';
import { parseRefreshToken } from '../../../crypto/refresh-token.ts';
import type { Sql } from '../../../db/sql.ts';
import { mayExchange, signedInOf } from '../../../domain/on-behalf.ts';
import { isProven, type Sender } from '../../../domain/sender.ts';
import { cutoffsOf } from '../../../domain/session.ts';
import { isPersons, type Subjects } from '../../../domain/subjects.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';
import * as store from './store.ts';

export interface GrantSubject {
  userId: string;
  authTime: number;
  acr: string;
  amr: readonly string[];
  /** The scopes of an access token; undefined: the token was none. */
  tokenScopes?: readonly string[];
}

interface Presented {
  realm: string;
  client: ClientView;
  settings: RealmSettingsDto;
  sender: Sender;
  body: { requested_token_type: string; subject_token: string; subject_token_type: string };
}

/** RFC 8693 §2.2.2: a faulty token is an invalid_request. */
const invalid = (reason: string) =>
  new OAuthError('invalid_request', 'The subject token is not valid here', { reason });

export function createSubjectReader({
  sql,
  tokens,
  subjects,
  now,
}: {
  sql: Sql;
  tokens: Pick<Tokens, 'verify'>;
  subjects: Pick<Subjects, 'find'>;
  now: () => Date;
}) {
  const found = (realm: string, claims: { sub: string }): string => {
    const userId = subjects.find(realm, claims);
    if (userId === undefined) throw invalid('it names no user');
    return userId;
  };

  async function ofIdToken({ realm, client, body }: Presented): Promise<GrantSubject> {
    const claims = await tokens.verify(realm, body.subject_token, { typ: 'JWT' });
    // Only ID tokens have both claims: other JWTs of the realm have the same type.
    if (!claims || typeof claims.auth_time !== 'number' || typeof claims.at_hash !== 'string')
      throw invalid('it is no ID token of this realm');
    if (claims.aud !== client.clientId) throw invalid('the ID token is another client’s');
    if (claims.act !== undefined) throw invalid('another party acts for the user');
    const userId = found(realm, claims);
    // Without a session it belongs to a grant that outlives sessions.
    const ofGrant = { userId, client: client.id, authTime: claims.auth_time, now: now() };
    if (claims.sid === undefined && !(await store.hasLiveGrant(sql, realm, ofGrant)))
      throw invalid('the grant of the ID token has ended');
    return { userId, ...signedInOf(claims) };
  }

  async function ofRefreshToken({ realm, client, settings, body }: Presented): Promise<GrantSubject> {
    const presented = parseRefreshToken(body.subject_token);
    const cutoffs = cutoffsOf(settings, now());
    const grant = presented && (await store.liveGrant(sql, realm, { ...presented, client: client.id, cutoffs }));
    if (!grant) throw invalid('it is no refresh token of this client that is in use');
    const { authTime, acr, amr, act, openid } = grant.grant_data;
    if (!openid) throw invalid('it comes from no sign-in with openid');
    if (act) throw invalid('another party acts for the user');
    return { userId: grant.user_id, authTime, acr, amr };
  }

  async function ofAccessToken({ realm, client, body, sender }: Presented): Promise<GrantSubject> {
    const claims = await tokens.verify(realm, body.subject_token, { typ: 'at+jwt' });
    if (!claims || !isPersons(claims)) throw invalid('it is no access token of a user of this realm');
    if (!mayExchange(client, claims)) throw invalid('the access token is neither the client’s nor for it');
    if (!isProven(claims, sender)) throw invalid('the access token is bound to a key that was not proven');
    if (claims.act !== undefined) throw invalid('another party acts for the user');
    const { sid: _, ...signedIn } = signedInOf(claims);
    return { userId: found(realm, claims), ...signedIn, tokenScopes: (claims.scope ?? '').split(' ') };
  }

  return {
    /** @throws OAuthError `invalid_request` */
    async read(presented: Presented): Promise<GrantSubject> {
      const { requested_token_type: wanted, subject_token_type: type } = presented.body;
      if (type === ID_TOKEN_TYPE) return ofIdToken(presented);
      if (type === REFRESH_TOKEN_TYPE) return ofRefreshToken(presented);
      if (type === ACCESS_TOKEN_TYPE && wanted !== ID_JAG_TYPE) return ofAccessToken(presented);
      throw new OAuthError('invalid_request', 'A subject token of this type is not for the requested token');
    },
  };
}
