// Issues access and ID tokens: RFC 9068 (`at+jwt`), OIDC Core §2. The caller has decided about permission and scopes.
// Without a requested resource the audience is the realm's issuer; with `openid` the issuer is added, so that userinfo
// accepts the token.

import { hash } from 'node:crypto';
import { ADMIN_API_CLAIM } from '../../../contract/admin-cli.ts';
import type { SigningAlgorithm } from '../../../contract/algorithms.ts';
import { USERINFO_CLAIM } from '../../../contract/claims.ts';
import type { UmaPermission } from '../../../contract/uma-grant.ts';
import type { Sql } from '../../../db/sql.ts';
import { type AuthorizationDetail, detailsFor, scopesWithin } from '../../../domain/authorization-details.ts';
import {
  audiencesOf,
  type Carrier,
  claimsOf,
  namedClaims,
  offeredTo,
  type ScopeView,
  saidFor,
} from '../../../domain/claims.ts';
import type { AskedClaims } from '../../../domain/claims-request.ts';
import type { Person } from '../../../domain/person.ts';
import { OPENID } from '../../../domain/scopes.ts';
import type { Confirmation } from '../../../domain/sender.ts';
import type { Subject, Subjects } from '../../../domain/subjects.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { adminAudience } from '../../../http/own-addresses.ts';
import type { ClientView } from '../clients/view.ts';
import { type Encrypted, isEncrypted } from './encryption.ts';
import type { Tokens } from './service.ts';
import { isPerson } from './store.ts';

/** How the user signed in, in the form of token claims. */
export interface SignedIn {
  /** Absent if the grant outlives the session (`offline_access`). */
  sid?: string | undefined;
  /** Seconds. */
  authTime: number;
  acr: string;
  amr: readonly string[];
}
/** The keys that an access token is bound to; undefined: a bearer token. */
type Bound = Confirmation | undefined;

/** The acting party, and the end of its time. */
export interface Acting {
  /** undefined: the token names no acting party. */
  by: { realm: string; sub: string } | undefined;
  /** The earlier acting parties (RFC 8693 §4.1). */
  before?: object | undefined;
  until: Date;
}
export interface Minted {
  accessToken: string;
  idToken?: string;
  expiresIn: number;
  scope: string;
  jti: string;
  /** RFC 9396 §7; undefined: none. */
  authorizationDetails?: readonly AuthorizationDetail[] | undefined;
}

/** A service account's token that is asked for. */
export interface ClientsToken {
  scopes: readonly ScopeView[];
  cnf: Bound;
  resources?: readonly string[];
  details?: readonly AuthorizationDetail[] | undefined;
  ttlSeconds?: number;
  claims?: Readonly<Record<string, unknown>>;
}
/** A user's tokens that are asked for. */
export interface PersonsTokens {
  person: Person;
  cnf: Bound;
  /** The `sub` that the grant began with, if it isn't the user's id. */
  about?: string | undefined;
  scopes: readonly ScopeView[];
  openid: boolean;
  resources: readonly string[];
  signedIn: SignedIn;
  gid: string;
  nonce?: string | undefined;
  /** The claims that the application asked for by name. */
  claims?: AskedClaims | undefined;
  details?: readonly AuthorizationDetail[];
  /** All details that the user granted, if the token carries fewer of them. */
  granted?: readonly AuthorizationDetail[] | undefined;
  /** The party that acts for the user, and the end of its time. */
  acting?: Acting | undefined;
  /** The tokens are pushed to the client: the ID token names them (OpenID Connect CIBA §10.3.1). */
  pushed?: { authReqId: string; refreshToken: string | undefined } | undefined;
}

/** The scopes that are listed in the token's `scope`. */
const shown = (scopes: readonly ScopeView[]): string[] => scopes.filter((s) => s.inTokenScope).map((s) => s.name);

const one = (audience: readonly string[]): string | readonly string[] =>
  audience.length === 1 && audience[0] !== undefined ? audience[0] : audience;

const some = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);

/** Clients could get such a name in earlier releases, before it was refused. */
const namedAsPerson = () =>
  new OAuthError('unauthorized_client', 'The name of this client is the id of a person: give it another');

/** The requested audiences, and those that claims of the scopes add. */
function audience(asked: readonly string[], said: readonly Carrier[]): readonly string[] {
  const added = audiencesOf(said);
  return asked.length === 1 && added.length === 0 ? asked : [...new Set([...asked, ...added])];
}

/** OIDC Core §3.1.3.6: the left half of the digest that the ID token's signature is made with; Ed25519's is SHA-512. */
function halfHash(token: string, algorithm: SigningAlgorithm | null): string {
  const digest = hash(algorithm === 'EdDSA' ? 'sha512' : 'sha256', token, 'buffer');
  return digest.subarray(0, digest.length / 2).toString('base64url');
}

export function createMint({
  tokens,
  encrypted,
  subjects,
  settings,
  baseUrl,
  sql,
  now,
  newId,
}: {
  tokens: Pick<Tokens, 'sign'>;
  encrypted: Encrypted;
  subjects: Pick<Subjects, 'of'>;
  settings: {
    issuer(realm: string): Promise<string>;
    of(realm: string): Promise<{ accessTokenTtlSeconds: number } | undefined>;
  };
  baseUrl: string;
  sql: Sql;
  now: () => Date;
  newId: () => string;
}) {
  const adminApi = adminAudience(baseUrl);

  /** Marks tokens that were issued for the admin API: a token can also get its audience in other ways. */
  const marks = (resources: readonly string[]) => (resources.includes(adminApi) ? { [ADMIN_API_CLAIM]: true } : {});

  async function frame(realm: string, client: ClientView, ttlSeconds?: number, until?: Date) {
    const iat = Math.floor(now().getTime() / 1000);
    const ofRealm = (await settings.of(realm))?.accessTokenTtlSeconds ?? 300;
    const longest = ttlSeconds ?? client.accessTokenTtlSeconds ?? ofRealm;
    const expiresIn = until ? Math.min(longest, Math.max(Math.floor(until.getTime() / 1000) - iat, 0)) : longest;
    return { iss: await settings.issuer(realm), iat, exp: iat + expiresIn, expiresIn, jti: newId() };
  }

  async function clientsClaims(
    realm: string,
    client: ClientView,
    { scopes, resources = [], details = [], ttlSeconds, claims = {}, cnf }: ClientsToken,
  ) {
    if (await isPerson(sql, realm, client.clientId)) throw namedAsPerson();
    const { iss, iat, exp, expiresIn, jti } = await frame(realm, client, ttlSeconds);
    const scope = shown(scopes).join(' ');
    const said = saidFor(client, scopes);
    const authorizationDetails = some(detailsFor(details, resources));
    return {
      claims: {
        ...claimsOf(said, { roles: client.roles }, 'accessToken'),
        ...claims,
        ...marks(resources),
        iss,
        sub: client.clientId,
        aud: one(audience(resources.length > 0 ? resources : [iss], said)),
        exp,
        iat,
        jti,
        client_id: client.clientId,
        scope: scope || undefined,
        authorization_details: authorizationDetails,
        cnf,
      },
      scope,
      expiresIn,
      jti,
      authorizationDetails,
    };
  }

  async function personsClaims(
    realm: string,
    client: ClientView,
    {
      person,
      about: begun = person.id,
      scopes: wanted,
      openid,
      resources,
      signedIn: { sid, authTime, acr, amr },
      gid,
      nonce,
      claims = { idToken: [], userinfo: [] },
      details = [],
      granted = details,
      acting,
      pushed,
      cnf,
    }: PersonsTokens,
  ) {
    const subject = await subjects.of(realm, client, person);
    if (subject?.sub !== begun)
      throw new OAuthError('invalid_grant', 'Applications know this person by another name now');
    const { iss, iat, exp, expiresIn, jti } = await frame(realm, client, undefined, acting?.until);
    const authorizationDetails = some(detailsFor(details, resources));
    const scopes = scopesWithin(wanted, { granted, details: authorizationDetails });
    const scope = [...(openid ? [OPENID] : []), ...shown(scopes)].join(' ');
    const asked = resources.length === 0 ? [iss] : openid ? [...resources, iss] : resources;
    const said = saidFor(client, scopes);
    // RFC 8693 §4.1
    const act = acting?.by
      ? { iss: await settings.issuer(acting.by.realm), sub: acting.by.sub, act: acting.before }
      : acting?.before;
    const about = { auth_time: authTime, acr, amr, sid, ...(act && { act }) };
    const session = { sid, authTime, acr, amr };
    const access = {
      ...claimsOf(said, person, 'accessToken', session),
      ...marks(resources),
      iss,
      ...subject,
      aud: one(audience(asked, said)),
      exp,
      iat,
      jti,
      client_id: client.clientId,
      scope: scope || undefined,
      authorization_details: authorizationDetails,
      ...(client.mayActClient !== null && { may_act: { client_id: client.mayActClient } }),
      ...(openid && claims.userinfo.length > 0 && { [USERINFO_CLAIM]: claims.userinfo }),
      gid,
      cnf,
      ...about,
    };
    /** @param atHash binds the ID token to the access token */
    const idToken = (atHash: string) => ({
      ...namedClaims(offeredTo(client), person, claims.idToken, session),
      // OIDC Core §5.4: with an access token, userinfo returns the claims of scopes.
      ...(client.idTokenUserinfoClaims && claimsOf(said, person, 'userinfo', session)),
      ...claimsOf(said, person, 'idToken', session),
      iss,
      ...subject,
      aud: client.clientId,
      exp,
      iat,
      nonce,
      at_hash: atHash,
      ...(pushed && {
        'urn:openid:params:jwt:claim:auth_req_id': pushed.authReqId,
        ...(pushed.refreshToken !== undefined && {
          'urn:openid:params:jwt:claim:rt_hash': halfHash(pushed.refreshToken, client.idTokenSignedResponseAlg),
        }),
      }),
      ...about,
    });
    return { access, idToken, scope, expiresIn, jti, authorizationDetails };
  }

  return {
    /**
     * A token with a person's or client's permissions at one resource server, without identity claims. UMA 2.0 Grant §1.3.
     * @param person undefined: the client acts for itself, without a user
     */
    async forResourceServer(
      realm: string,
      client: ClientView,
      {
        audience: aud,
        permissions,
        person,
        cnf,
      }: {
        audience: string;
        permissions: readonly UmaPermission[];
        person: { about: Subject; gid: string; signedIn: SignedIn; act: unknown; until: Date } | undefined;
        cnf: Bound;
      },
    ): Promise<Minted> {
      const { iss, iat, exp, expiresIn, jti } = await frame(realm, client, undefined, person?.until);
      if (!person && (await isPerson(sql, realm, client.clientId))) throw namedAsPerson();
      const { sid, authTime: auth_time, acr, amr } = person?.signedIn ?? {};
      const accessToken = await tokens.sign(
        realm,
        { typ: 'at+jwt', algorithm: client.accessTokenSignedResponseAlg },
        {
          iss,
          ...(person?.about ?? { sub: client.clientId }),
          aud,
          exp,
          iat,
          jti,
          client_id: client.clientId,
          authorization: { permissions },
          gid: person?.gid,
          cnf,
          auth_time,
          acr,
          amr,
          sid,
          act: person?.act,
        },
      );
      return { accessToken, expiresIn, scope: '', jti };
    },

    /** A service account's token, `sub` being the clientId (RFC 9068 §2.2). `claims` adds context (workload identity). */
    async forClient(realm: string, client: ClientView, wanted: ClientsToken): Promise<Minted> {
      const { claims, ...rest } = await clientsClaims(realm, client, wanted);
      const accessToken = await tokens.sign(
        realm,
        { typ: 'at+jwt', algorithm: client.accessTokenSignedResponseAlg },
        claims,
      );
      return { accessToken, ...rest };
    },

    /**
     * A user's access token, and with `openid` an ID token.
     * @throws OAuthError `invalid_grant` if the subject has changed since, which no refresh may do (OIDC Core §12.2)
     */
    async forPerson(realm: string, client: ClientView, wanted: PersonsTokens): Promise<Minted> {
      const { access, idToken: ofIdToken, ...rest } = await personsClaims(realm, client, wanted);
      const accessToken = await tokens.sign(
        realm,
        { typ: 'at+jwt', algorithm: client.accessTokenSignedResponseAlg },
        access,
      );
      if (!wanted.openid) return { accessToken, ...rest };
      const algorithm = client.idTokenSignedResponseAlg;
      const signed = await tokens.sign(realm, { typ: 'JWT', algorithm }, ofIdToken(halfHash(accessToken, algorithm)));
      const idToken = isEncrypted(client, 'idToken') ? await encrypted(client, 'idToken', signed, 'JWT') : signed;
      return { accessToken, idToken, ...rest };
    },

    /** The claims that {@link forPerson} and {@link forClient} sign. Nothing is issued. */
    personsClaims,
    clientsClaims,
  };
}
export type Mint = ReturnType<typeof createMint>;
