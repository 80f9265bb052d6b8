// The user whom a backchannel request names. An unknown, disabled or deleted user is null, and the client gets the answer of a user
// who does not decide. CIBA Core §7.1; RFC 9493 (`sub_id`).
import { createLocalJWKSet } from 'jose/jwks/local';
import { jwtVerify } from 'jose/jwt/verify';
import { z } from 'zod';
import type { Sql } from '../../../db/sql.ts';
import type { Subjects } from '../../../domain/subjects.ts';
import { idOfUserNamed } from '../../../domain/user-names.ts';
import type { Form } from '../../../http/form.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { WithClientKeys } from '../../configuration/clients/keys.ts';
import { algorithmsFor } from '../../configuration/clients/profile.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';

const HINTS = ['login_hint', 'login_hint_token', 'id_token_hint'] as const;
const SKEW_SECONDS = 60;
const MOST_NAME = 255;

const SubjectId = z.discriminatedUnion('format', [
  z.object({ format: z.literal('email'), email: z.string() }),
  z.object({ format: z.literal('opaque'), id: z.string() }),
  z.object({ format: z.literal('iss_sub'), iss: z.string(), sub: z.string() }),
]);

const bad = (description: string, cause?: unknown) => new OAuthError('invalid_request', description, { cause });

export interface HintDeps {
  sql: Sql;
  tokens: Pick<Tokens, 'verify'>;
  subjects: Pick<Subjects, 'find'>;
  settings: { issuer(realm: string): Promise<string> };
  withKeys: WithClientKeys;
  now: () => Date;
}

export function createHints({ sql, tokens, subjects, settings, withKeys, now }: HintDeps) {
  async function byName(realm: string, name: string): Promise<string | null> {
    const asked = name.slice(0, MOST_NAME);
    const [row] = await sql<{ id: string }>`
      select id from (
        select id, 1 as place from realm_user where realm_id = ${realm} and id = (${idOfUserNamed(realm, asked)}) and enabled
        union all
        select id, 2 from realm_user where realm_id = ${realm} and lower(email) = lower(${asked}) and email_verified and enabled
        order by place limit 1) u`;
    return row?.id ?? null;
  }
  async function byId(realm: string, id: string | undefined): Promise<string | null> {
    const [row] = await sql<{ id: string }>`
      select id from realm_user where realm_id = ${realm} and id = ${id ?? null} and enabled`;
    return row?.id ?? null;
  }

  async function byIdToken(realm: string, client: ClientView, hint: string): Promise<string | null> {
    const claims = await tokens.verify(realm, hint, { typ: 'JWT', audience: client.clientId, expired: 'accepted' });
    if (!claims) throw bad('id_token_hint is not an ID token of this client');
    return byId(realm, subjects.find(realm, claims));
  }

  /** A JWT that only the client can have made, so that a browser which brought it can't have changed it. */
  async function byHintToken(realm: string, client: ClientView, hint: string): Promise<string | null> {
    if (client.jwks === null && client.jwksUri === null)
      throw bad('login_hint_token is for clients with registered keys');
    const issuer = await settings.issuer(realm);
    const { payload } = await withKeys(client, (keys) =>
      jwtVerify(hint, createLocalJWKSet(keys), {
        algorithms: [...algorithmsFor(client)],
        issuer: client.clientId,
        audience: issuer,
        requiredClaims: ['exp', 'sub_id'],
        clockTolerance: SKEW_SECONDS,
        currentDate: now(),
      }),
    ).catch((cause: unknown) => {
      if (Object(cause).code === 'ERR_JWT_EXPIRED')
        throw new OAuthError('expired_login_hint_token', 'login_hint_token has expired', { cause });
      throw bad('login_hint_token is not a JWT of this client for this issuer', cause);
    });
    const named = SubjectId.safeParse(payload.sub_id);
    if (!named.success) throw bad('sub_id of login_hint_token has the format email, iss_sub or opaque');
    const { data } = named;
    if (data.format === 'email') return byName(realm, data.email);
    if (data.format === 'opaque') return byName(realm, data.id);
    return data.iss === issuer ? byId(realm, subjects.find(realm, data)) : null;
  }

  /** @returns the user's id, and the text of the hint. @throws OAuthError `invalid_request`, `expired_login_hint_token` */
  return async function hinted(
    realm: string,
    client: ClientView,
    form: Form,
  ): Promise<{ userId: string | null; hint: string }> {
    const given = HINTS.filter((name) => form.get(name) !== undefined);
    const [name] = given;
    if (name === undefined || given.length > 1) throw bad(`Exactly one of ${HINTS.join(', ')} is needed`);
    const value = form.get(name) ?? '';
    const hint = `${name} ${value}`;
    if (name === 'login_hint') return { userId: await byName(realm, value), hint };
    if (name === 'id_token_hint') return { userId: await byIdToken(realm, client, value), hint };
    return { userId: await byHintToken(realm, client, value), hint };
  };
}
