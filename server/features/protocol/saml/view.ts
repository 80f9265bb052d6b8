// Service providers as the SAML endpoints use them, cached in this process. features/configuration/saml-clients has
// their admin API.
import { createRealmCache } from '../../../db/cache.ts';
import type { Sql } from '../../../db/sql.ts';
import type { ClaimView } from '../../../domain/claims.ts';
import type { Binding, NameIdFormat } from '../../../domain/saml-names.ts';

export interface Mapper extends Pick<ClaimView, 'name' | 'source' | 'attribute' | 'value'> {
  /** The attribute's name, if it differs from the mapper's. */
  claim: string | null;
  nameFormat: 'basic' | 'uri' | 'unspecified';
}

export interface SamlClientView {
  id: string;
  entityId: string;
  /** The name that pages show: the client's own, else its application's, else its entity id. */
  title: string;
  /** The address at which users open its application. */
  homeUrl: string | null;
  enabled: boolean;
  consumers: readonly { url: string; index: number; default: boolean }[];
  logouts: readonly { url: string; binding: Binding; responseUrl?: string }[];
  nameIdFormat: NameIdFormat;
  /** PEM. */
  signingCertificates: readonly string[];
  /** PEM. */
  encryptionCertificate: string | null;
  requireSignedRequests: boolean;
  signAssertions: boolean;
  signResponses: boolean;
  encryptAssertions: boolean;
  idpInitiated: boolean;
  consentRequired: boolean;
  mappers: readonly Mapper[];
  /** The client's own flow, else its application's. */
  flowOverride: string | null;
  /** The applications that the client belongs to: each must admit the user. */
  applications: readonly ApplicationView[];
}
interface ApplicationView {
  name: string;
  enabled: boolean;
  /** Roles that permit the client's use: a user needs one of them; empty: none is needed. */
  roles: readonly string[];
}
interface Row extends Omit<SamlClientView, 'title' | 'homeUrl' | 'applications'> {
  name: string | null;
  applications: (ApplicationView & { displayName: string | null; url: string | null; flowOverride: string | null })[];
}

const read = (sql: Sql, realm: string, entityId: string) => sql<Row>`
  select c.id, c.entity_id as "entityId", c.name, c.enabled, c.assertion_consumer_services as consumers,
    c.single_logout_services as logouts, c.name_id_format as "nameIdFormat",
    c.signing_certificates as "signingCertificates", c.encryption_certificate as "encryptionCertificate",
    c.require_signed_requests as "requireSignedRequests", c.sign_assertions as "signAssertions",
    c.sign_responses as "signResponses", c.encrypt_assertions as "encryptAssertions", c.idp_initiated as "idpInitiated",
    c.consent_required as "consentRequired", c.mappers, c.flow_override as "flowOverride",
    (
      select coalesce(jsonb_agg(jsonb_build_object('name', a.name, 'enabled', a.enabled, 'displayName', a.display_name,
        'url', a.url, 'flowOverride', a.flow_override, 'roles', array(
          select r.name from application_role ar join role r on r.realm_id = ar.realm_id and r.id = ar.role_id
          where ar.realm_id = a.realm_id and ar.application_id = a.id)) order by a.name), '[]')
      from application a where a.realm_id = c.realm_id and c.entity_id = any(a.saml_clients)
    ) as applications
  from saml_client c where c.realm_id = ${realm} and c.entity_id = ${entityId}`;

const toView = ({ name, applications, ...row }: Row): SamlClientView => {
  const [application] = applications;
  return {
    ...row,
    title: name ?? application?.displayName ?? row.entityId,
    homeUrl: application?.url ?? null,
    flowOverride: row.flowOverride ?? application?.flowOverride ?? null,
    applications,
  };
};

const LONGEST = 1024;

export function createSamlClientViews({ sql, now }: { sql: Sql; now: () => Date }) {
  const views = createRealmCache<SamlClientView | undefined>({
    now,
    async load(realm, entityId) {
      const [row] = await read(sql, realm, entityId);
      return row && toView(row);
    },
  });
  return {
    /** The client with this entity id; undefined: it doesn't exist, or is disabled. */
    async view(realm: string, entityId: string): Promise<SamlClientView | undefined> {
      if (entityId === '' || entityId.length > LONGEST || entityId.includes('\0')) return undefined;
      const view = await views.get(realm, entityId);
      return view?.enabled ? view : undefined;
    },
    drop: views.drop,
  };
}
export type SamlClientViews = ReturnType<typeof createSamlClientViews>;
