// A client's row with its scopes, mappers and roles, in one statement, for the protocol endpoints (view.ts).
import type { ClientAlgorithm, SigningAlgorithm } from '../../../contract/algorithms.ts';
import type { TokenEndpointAuthMethod } from '../../../contract/client-authentication.ts';
import type { EncryptionFields } from '../../../contract/client-jwts.ts';
import type { SecurityProfile } from '../../../contract/security-profiles.ts';
import type { AssertionAudience } from '../../../contract/settings.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import { agentActs } from '../../../domain/agents.ts';
import type { ClaimView } from '../../../domain/claims.ts';
import type { RolePairs } from '../../../domain/person.ts';
import type { AgentView, ApplicationView, CertificateTerms, WorkloadTerms } from './view.ts';

export interface ClientRow {
  id: string;
  client_id: string;
  name: string | null;
  logo_uri: string | null;
  client_uri: string | null;
  policy_uri: string | null;
  tos_uri: string | null;
  enabled: boolean;
  token_endpoint_auth_method: TokenEndpointAuthMethod;
  client_assertion_audience: AssertionAudience | null;
  authorization_details_types: string[];
  backchannel_notification_endpoint: string | null;
  backchannel_token_delivery_mode: 'ping' | 'push';
  backchannel_user_code_parameter: boolean;
  token_endpoint_auth_signing_alg: ClientAlgorithm | null;
  profile: SecurityProfile | null;
  realm_profile: SecurityProfile | null;
  secret_hash: Buffer | null;
  secret_slow: string | null;
  previous_secret_hash: Buffer | null;
  previous_secret_slow: string | null;
  previous_secret_expires_at: Date | null;
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  backchannel_logout_uri: string | null;
  web_origins: string[];
  grant_types: string[];
  consent_required: boolean;
  require_pkce: boolean;
  id_token_userinfo_claims: boolean;
  require_pushed_authorization_requests: boolean;
  require_signed_request_object: boolean;
  request_object_signing_alg: ClientAlgorithm | null;
  request_uris: string[];
  id_token_signed_response_alg: SigningAlgorithm | null;
  access_token_signed_response_alg: SigningAlgorithm | null;
  userinfo_signed_response_alg: SigningAlgorithm | null;
  authorization_signed_response_alg: SigningAlgorithm | null;
  introspection_signed_response_alg: SigningAlgorithm | null;
  encryption: EncryptionFields | null;
  reuse_refresh_tokens: boolean | null;
  flow_override: string | null;
  access_token_ttl_seconds: number | null;
  refresh_token_ttl_seconds: number | null;
  jwks: Record<string, unknown> | null;
  jwks_uri: string | null;
  allowed_resources: string[];
  dpop_bound_access_tokens: boolean;
  tls_client_certificate_bound_access_tokens: boolean;
  certificate: CertificateTerms | null;
  workloads: WorkloadTerms[] | null;
  token_exchange_impersonation: boolean;
  may_act_client: string | null;
  registered: 'itself' | 'document' | null;
  subject_type: 'public' | 'pairwise' | null;
  sector_identifier_uri: string | null;
  scopes: { name: string; description: string | null; inTokenScope: boolean; claims: ClaimView[]; optional: boolean }[];
  mappers: ClaimView[];
  roles: RolePairs;
  application:
    | (ApplicationView & { displayName: string | null; url: string | null; flowOverride: string | null })
    | null;
  administers: boolean;
  agent: (AgentView & { acts: boolean }) | null;
}

/** The mapper row `k`, in the form that tokens need. */
const claimView = fragment`jsonb_build_object('name', coalesce(k.claim, k.name), 'source', k.source,
  'attribute', k.attribute, 'value', k.value, 'multivalued', k.multivalued, 'aggregate', k.aggregate, 'jsonType', k.json_type, 'in', k.places)`;

const encryption = fragment`jsonb_build_object(
  'idTokenEncryptedResponseAlg', c.id_token_encrypted_response_alg,
  'idTokenEncryptedResponseEnc', c.id_token_encrypted_response_enc,
  'userinfoEncryptedResponseAlg', c.userinfo_encrypted_response_alg,
  'userinfoEncryptedResponseEnc', c.userinfo_encrypted_response_enc,
  'authorizationEncryptedResponseAlg', c.authorization_encrypted_response_alg,
  'authorizationEncryptedResponseEnc', c.authorization_encrypted_response_enc,
  'introspectionEncryptedResponseAlg', c.introspection_encrypted_response_alg,
  'introspectionEncryptedResponseEnc', c.introspection_encrypted_response_enc,
  'requestObjectEncryptionAlg', c.request_object_encryption_alg,
  'requestObjectEncryptionEnc', c.request_object_encryption_enc)`;

const certificate = fragment`jsonb_build_object(
  'tlsClientAuthSubjectDn', c.tls_client_auth_subject_dn,
  'tlsClientAuthSanDns', c.tls_client_auth_san_dns,
  'tlsClientAuthSanUri', c.tls_client_auth_san_uri,
  'tlsClientAuthSanIp', c.tls_client_auth_san_ip,
  'tlsClientAuthSanEmail', c.tls_client_auth_san_email,
  'tlsClientAuthAuthorities', c.tls_client_auth_authorities)`;

const workloads = fragment`(
  select coalesce(jsonb_agg(jsonb_build_object('name', w.name, 'issuer', w.issuer, 'jwksUri', w.jwks_uri, 'subject', w.subject,
    'audience', w.audience, 'singleUse', w.single_use, 'adminAccess', w.admin_access) order by w.name), '[]')
  from workload_identity w
  where w.realm_id = c.realm_id and w.client_id = c.client_id and w.enabled and w.use <> 'exchange')`;

export const readClient = (sql: Sql, realm: string, clientId: string) => sql<ClientRow>`
  select c.id, c.client_id, c.name, c.logo_uri, c.client_uri, c.policy_uri, c.tos_uri, c.enabled, c.token_endpoint_auth_method, c.secret_hash, c.secret_slow,
    c.previous_secret_hash, c.previous_secret_slow, c.previous_secret_expires_at, c.redirect_uris,
    c.post_logout_redirect_uris, c.backchannel_logout_uri, c.web_origins, c.grant_types, c.consent_required, c.require_pkce, c.flow_override,
    c.id_token_userinfo_claims,
    c.require_pushed_authorization_requests, c.require_signed_request_object, c.request_object_signing_alg, c.request_uris,
    c.id_token_signed_response_alg, c.access_token_signed_response_alg, c.userinfo_signed_response_alg,
    c.authorization_signed_response_alg, c.introspection_signed_response_alg, c.token_endpoint_auth_signing_alg, c.reuse_refresh_tokens,
    c.profile, (select r.settings ->> 'profile' from realm r where r.realm_id = c.realm_id) as realm_profile,
    case when coalesce(c.id_token_encrypted_response_alg, c.userinfo_encrypted_response_alg, c.authorization_encrypted_response_alg,
      c.introspection_encrypted_response_alg, c.request_object_encryption_alg) is not null then ${encryption} end as encryption,
    c.access_token_ttl_seconds, c.refresh_token_ttl_seconds, c.jwks, c.jwks_uri, c.allowed_resources, c.authorization_details_types,
    c.backchannel_notification_endpoint, c.backchannel_token_delivery_mode, c.backchannel_user_code_parameter,
    c.client_assertion_audience, c.dpop_bound_access_tokens, c.tls_client_certificate_bound_access_tokens,
    case when c.token_endpoint_auth_method = 'tls_client_auth' then ${certificate} end as certificate,
    case when c.token_endpoint_auth_method in ('federated_jwt', 'spiffe_jwt', 'spiffe_x509') then ${workloads} end as workloads,
    c.token_exchange_impersonation, c.may_act_client, c.subject_type, c.sector_identifier_uri,
    (
      select case when g.document_fresh_until is null then 'itself' else 'document' end
      from client_registration g where g.realm_id = c.realm_id and g.client = c.id
    ) as registered,
    (
      select coalesce(jsonb_agg(jsonb_build_object('name', s.name, 'description', s.description,
        'inTokenScope', s.include_in_token_scope, 'optional', l.optional, 'claims', (
          select coalesce(jsonb_agg(${claimView} order by k.claim nulls first, k.name), '[]')
          from client_scope_claim sc join claim k on k.realm_id = sc.realm_id and k.id = sc.claim_id
          where sc.realm_id = s.realm_id and sc.scope_id = s.id
        )) order by s.name), '[]')
      from client_scope_link l join client_scope s on s.realm_id = l.realm_id and s.id = l.scope_id
      where l.realm_id = c.realm_id and l.client = c.id
    ) as scopes,
    (
      select coalesce(jsonb_agg(${claimView} order by k.claim nulls first, k.name), '[]') from protocol_mapper k
      where k.realm_id = c.realm_id and k.client = c.id
    ) as mappers,
    (
      with recursive held (role_id) as (
        select role_id from client_role where realm_id = c.realm_id and client = c.id
        union
        select rc.child_id from held h join role_composite rc on rc.realm_id = c.realm_id and rc.role_id = h.role_id
      )
      select coalesce(jsonb_agg(jsonb_build_array(o.client_id, r.name) order by o.client_id, r.name), '[]')
      from held h join role r on r.realm_id = c.realm_id and r.id = h.role_id
        left join client o on o.realm_id = r.realm_id and o.id = r.client
    ) as roles,
    (
      select jsonb_build_object('name', a.name, 'enabled', a.enabled, 'displayName', a.display_name, 'url', a.url,
        'flowOverride', a.flow_override, 'roles', array(
        select r.name from application_role ar join role r on r.realm_id = ar.realm_id and r.id = ar.role_id
        where ar.realm_id = a.realm_id and ar.application_id = a.id))
      from application_client ac join application a on a.realm_id = ac.realm_id and a.id = ac.application_id
      where ac.realm_id = c.realm_id and ac.client = c.id
    ) as application,
    exists (select from admin_grant g where g.realm_id = c.realm_id and g.client = c.id) as administers,
    (
      select jsonb_build_object('id', t.id, 'name', t.name, 'scopes', t.scopes, 'acts', ${agentActs},
        'expiresAt', extract(epoch from t.expires_at) * 1000)
      from agent t where t.realm_id = c.realm_id and t.client_id = c.client_id
    ) as agent
  from client c where c.realm_id = ${realm} and c.client_id = ${clientId}`;
