// Owns: the discovery document, the metadata of the realm's own APIs and the JWKS, as responses built once for each realm and dropped when it changes.
// Does not own: the keys (features/configuration/keys), the endpoints that the documents name.
// Implements: specification 4.11, 5 rule 4; OIDC Discovery §3, RFC 8414, RFC 9207, RFC 9728. It names only what really works.

import {
  ContentEncryption,
  clientAlgorithms,
  KeyEncryptionAlgorithm,
  RealmEncryption,
  SigningAlgorithm,
} from '../../../contract/algorithms.ts';
import {
  certificateMethods,
  SPIFFE_X509,
  secretMethods,
  workloadTokenMethods,
} from '../../../contract/client-authentication.ts';
import type { ProtectedResource } from '../../../contract/protected-resources.ts';
import { MASTER } from '../../../contract/realms.ts';
import { profileSigning, type SecurityProfile } from '../../../contract/security-profiles.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { ID_JAG_PROFILE, ID_JAG_TYPE, JWT_GRANT_TYPE } from '../../../contract/token-types.ts';
import { createRealmCache } from '../../../db/cache.ts';
import type { Sql } from '../../../db/sql.ts';
import { ACCOUNT_SCOPE, OPENID } from '../../../domain/scopes.ts';
import { type SubjectSettings, subjectTypes } from '../../../domain/subjects.ts';
import { adminAudience } from '../../../http/own-addresses.ts';
import { type ReadyAnswer, readyAnswer } from '../../../http/ready.ts';
import { endpointsOf } from '../../../http/realm-endpoints.ts';
import { offeredBy } from '../../../http/spoken.ts';
import { algorithmsFor, MESSAGE_SIGNING } from '../../configuration/clients/profile.ts';
import { jwtResponseModes, responseModes } from '../authorize/response-modes.ts';

/** Verifiers must read live keys (specification 5, rule 4). */
const HEADERS = {
  'cache-control': 'no-cache',
  'content-type': 'application/json; charset=utf-8',
  'access-control-allow-origin': '*',
};
const answerOf = (document: object): ReadyAnswer => readyAnswer(JSON.stringify(document), HEADERS);

const CLAIMS = ['sub', 'iss', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'acr', 'amr', 'sid', 'at_hash'];

/** RFC 8705 §3.3, §5: where clients show certificates; undefined: nowhere. */
function mutualTls(certificatesAt: string | undefined, baseUrl: string, realm: string) {
  if (certificatesAt === undefined) return {};
  const at = endpointsOf(certificatesAt, realm);
  return {
    tls_client_certificate_bound_access_tokens: true,
    ...(certificatesAt !== baseUrl && {
      mtls_endpoint_aliases: {
        token_endpoint: at.token,
        revocation_endpoint: at.revocation,
        introspection_endpoint: at.introspection,
        pushed_authorization_request_endpoint: at.pushedAuthorizationRequest,
        device_authorization_endpoint: at.deviceAuthorization,
        backchannel_authentication_endpoint: at.backchannelAuthentication,
        userinfo_endpoint: at.userinfo,
      },
    }),
  };
}

/** OpenID Connect Discovery §3; JARM §4; RFC 9701 §7. */
const encryptionValues = Object.fromEntries(
  ['id_token', 'userinfo', 'authorization', 'introspection'].flatMap((answer) => [
    [`${answer}_encryption_alg_values_supported`, KeyEncryptionAlgorithm.options],
    [`${answer}_encryption_enc_values_supported`, ContentEncryption.options],
  ]),
);

function discoveryDocument({
  baseUrl,
  realm,
  issuer,
  scopes,
  claims,
  grantTypes,
  locales,
  registers,
  documents,
  mustPush,
  profile,
  levels,
  subjects,
  resources,
  detailTypes,
  certificatesAt,
}: {
  baseUrl: string;
  realm: string;
  issuer: string;
  scopes: readonly string[];
  claims: readonly string[];
  grantTypes: readonly string[];
  locales: readonly string[];
  registers: boolean;
  /** A client's id can be the address of its metadata document. */
  documents: boolean;
  /** The realm accepts only pushed requests. */
  mustPush: boolean;
  /** The profile that all clients of the realm are held to. */
  profile: SecurityProfile | null;
  levels: readonly number[];
  subjects: readonly string[];
  /** The resources that the realm declares. */
  resources: readonly string[];
  /** The types of details that clients may ask for. */
  detailTypes: readonly string[];
  /** The address of the endpoints at which clients show certificates; undefined: they show none. */
  certificatesAt: string | undefined;
}) {
  const at = endpointsOf(baseUrl, realm);
  const confidential = [
    ...(profile === null ? secretMethods : []),
    'private_key_jwt',
    ...(certificatesAt === undefined ? [] : certificateMethods),
    ...(profile === null ? workloadTokenMethods : []),
    ...(profile === null && certificatesAt !== undefined ? [SPIFFE_X509] : []),
  ];
  const any = profile === null ? [...confidential, 'none'] : confidential;
  const clients = algorithmsFor({ profile });
  const realms = profile === null ? SigningAlgorithm.options : profileSigning.options;
  return {
    issuer,
    authorization_endpoint: at.authorization,
    pushed_authorization_request_endpoint: at.pushedAuthorizationRequest,
    require_pushed_authorization_requests: mustPush || profile !== null,
    ...(profile === MESSAGE_SIGNING && { require_signed_request_object: true }),
    device_authorization_endpoint: at.deviceAuthorization,
    backchannel_authentication_endpoint: at.backchannelAuthentication,
    backchannel_token_delivery_modes_supported: ['poll', 'ping', 'push'],
    backchannel_authentication_request_signing_alg_values_supported: clients,
    backchannel_user_code_parameter_supported: true,
    token_endpoint: at.token,
    userinfo_endpoint: at.userinfo,
    jwks_uri: at.jwks,
    revocation_endpoint: at.revocation,
    global_token_revocation_endpoint: at.globalTokenRevocation,
    introspection_endpoint: at.introspection,
    end_session_endpoint: at.endSession,
    ...(registers && { registration_endpoint: at.registration }),
    ...(documents && { client_id_metadata_document_supported: true }),
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    frontchannel_logout_supported: true,
    frontchannel_logout_session_supported: true,
    response_types_supported: ['code'],
    response_modes_supported: profile === MESSAGE_SIGNING ? jwtResponseModes : responseModes,
    grant_types_supported: grantTypes,
    // draft-ietf-oauth-identity-assertion-authz-grant §7; draft-ietf-oauth-identity-chaining §3
    identity_chaining_requested_token_types_supported: [ID_JAG_TYPE, JWT_GRANT_TYPE],
    authorization_grant_profiles_supported: [ID_JAG_PROFILE],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: any,
    token_endpoint_auth_signing_alg_values_supported: clients,
    revocation_endpoint_auth_methods_supported: any,
    revocation_endpoint_auth_signing_alg_values_supported: clients,
    introspection_endpoint_auth_methods_supported: confidential,
    introspection_endpoint_auth_signing_alg_values_supported: clients,
    dpop_signing_alg_values_supported: clients,
    ...mutualTls(certificatesAt, baseUrl, realm),
    id_token_signing_alg_values_supported: realms,
    userinfo_signing_alg_values_supported: realms,
    authorization_signing_alg_values_supported: realms,
    introspection_signing_alg_values_supported: realms,
    ...encryptionValues,
    subject_types_supported: subjects,
    scopes_supported: scopes,
    claims_supported: [...new Set([...CLAIMS, ...claims])],
    claim_types_supported: ['normal'],
    acr_values_supported: levels.map(String),
    prompt_values_supported: ['none', 'login', 'consent', 'select_account', 'create'],
    ui_locales_supported: locales,
    authorization_response_iss_parameter_supported: true,
    claims_parameter_supported: true,
    request_parameter_supported: true,
    request_object_signing_alg_values_supported: clients,
    request_object_encryption_alg_values_supported: RealmEncryption.options,
    request_object_encryption_enc_values_supported: ContentEncryption.options,
    request_uri_parameter_supported: true,
    require_request_uri_registration: true,
    // RFC 9396 §10
    ...(detailTypes.length > 0 && { authorization_details_types_supported: detailTypes }),
    // RFC 9728 §4
    ...(resources.length > 0 && { protected_resources: resources }),
  };
}

export function createDiscovery({
  sql,
  keys,
  settings,
  grantTypes,
  levels,
  baseUrl,
  certificatesAt,
  now,
}: {
  sql: Sql;
  keys: {
    jwks(realm: string): Promise<readonly object[]>;
    jwksReady(realm: string): readonly object[] | undefined;
  };
  settings: {
    issuer(realm: string): Promise<string>;
    of(
      realm: string,
    ): Promise<
      | (SubjectSettings &
          Pick<
            RealmSettingsDto,
            | 'supportedLocales'
            | 'displayName'
            | 'clientRegistration'
            | 'clientIdMetadataDocuments'
            | 'requirePushedAuthorizationRequests'
            | 'resourceIndicators'
            | 'profile'
          >)
      | undefined
    >;
  };
  grantTypes: readonly string[];
  /** The levels that sign-ins can reach with the authenticators that exist. */
  levels: readonly number[];
  baseUrl: string;
  certificatesAt: string | undefined;
  now: () => Date;
}) {
  const bound = certificatesAt !== undefined && { tls_client_certificate_bound_access_tokens: true };
  const documents = createRealmCache<ReadyAnswer>({
    now,
    async load(realm) {
      const known = await sql<{ name: string; claims: string[] }>`
        select s.name, array(
          select coalesce(k.claim, k.name) from client_scope_claim l
          join claim k on k.realm_id = l.realm_id and k.id = l.claim_id
          where l.realm_id = s.realm_id and l.scope_id = s.id and k.source <> 'audience' order by 1) as claims
        from client_scope s where s.realm_id = ${realm} order by s.name`;
      const types = await sql<{ type: string }>`
        select type from authorization_detail_type where realm_id = ${realm} and enabled order by type limit 200`;
      const ofRealm = await settings.of(realm);
      return answerOf(
        discoveryDocument({
          baseUrl,
          realm,
          issuer: await settings.issuer(realm),
          scopes: [...new Set(['openid', ...known.map((s) => s.name)])],
          claims: known.flatMap((s) => s.claims.map((name) => name.replace(/^([\w-]+)\.[\w-]+$/, '$1'))),
          grantTypes,
          levels,
          locales: ofRealm ? offeredBy(ofRealm) : [],
          documents: ofRealm?.clientIdMetadataDocuments ?? false,
          registers: ofRealm?.clientRegistration !== 'closed',
          mustPush: ofRealm?.requirePushedAuthorizationRequests ?? false,
          profile: ofRealm?.profile ?? null,
          subjects: ofRealm ? subjectTypes(ofRealm) : [],
          resources: ofRealm?.resourceIndicators ?? [],
          detailTypes: types.map(({ type }) => type),
          certificatesAt,
        }),
      );
    },
  });
  /** The realm's own APIs as a protected resource (RFC 9728 §2): userinfo, the account API. */
  const resources = createRealmCache<ReadyAnswer>({
    now,
    async load(realm) {
      const issuer = await settings.issuer(realm);
      return answerOf({
        resource: issuer,
        authorization_servers: [issuer],
        jwks_uri: endpointsOf(baseUrl, realm).jwks,
        scopes_supported: [OPENID, ACCOUNT_SCOPE],
        bearer_methods_supported: ['header'],
        dpop_signing_alg_values_supported: clientAlgorithms,
        ...bound,
        resource_name: (await settings.of(realm))?.displayName ?? realm,
      } satisfies ProtectedResource);
    },
  });
  /** UMA 2.0 Grant §2, Federated Authorization for UMA 2.0 §2: the discovery document, with the protection API. */
  const uma = createRealmCache<ReadyAnswer>({
    now,
    async load(realm) {
      const at = endpointsOf(baseUrl, realm);
      const { body } = await documents.get(realm, '');
      return answerOf({
        ...JSON.parse(body),
        permission_endpoint: at.permission,
        resource_registration_endpoint: at.resourceRegistration,
      });
    },
  });
  /** Responses by the list object that `keys` returns, which is replaced when the keys change. */
  const jwks = new WeakMap<object, ReadyAnswer>();

  return {
    document: {
      read: (realm: string): Promise<ReadyAnswer> => documents.get(realm, ''),
      ready: (realm: string): ReadyAnswer | undefined => documents.ready(realm, ''),
    },
    resource: {
      read: (realm: string): Promise<ReadyAnswer> => resources.get(realm, ''),
      ready: (realm: string): ReadyAnswer | undefined => resources.ready(realm, ''),
    },
    /**
     * The metadata of a resource that the realm declares; undefined: none. Only the resource knows which other tokens
     * it accepts.
     */
    async declared(realm: string, resource: string): Promise<ReadyAnswer | undefined> {
      const listed = (await settings.of(realm))?.resourceIndicators.includes(resource);
      if (!listed) return undefined;
      const authorization_servers = [await settings.issuer(realm)];
      return answerOf({
        resource,
        authorization_servers,
        bearer_methods_supported: ['header'],
      } satisfies ProtectedResource);
    },
    async admin(): Promise<ReadyAnswer> {
      return answerOf({
        resource: adminAudience(baseUrl),
        authorization_servers: [await settings.issuer(MASTER)],
        bearer_methods_supported: ['header'],
        dpop_signing_alg_values_supported: clientAlgorithms,
        ...bound,
        resource_name: 'The admin API',
      } satisfies ProtectedResource);
    },
    uma: {
      read: (realm: string): Promise<ReadyAnswer> => uma.get(realm, ''),
      ready: (realm: string): ReadyAnswer | undefined => uma.ready(realm, ''),
    },
    jwks: {
      async read(realm: string): Promise<ReadyAnswer> {
        const published = await keys.jwks(realm);
        const answer = jwks.get(published) ?? answerOf({ keys: published });
        jwks.set(published, answer);
        return answer;
      },
      ready(realm: string): ReadyAnswer | undefined {
        const published = keys.jwksReady(realm);
        return published && jwks.get(published);
      },
    },
    drop(realm: string | undefined): void {
      documents.drop(realm);
      resources.drop(realm);
      uma.drop(realm);
    },
  };
}
export type Discovery = ReturnType<typeof createDiscovery>;
