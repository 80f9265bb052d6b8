// SQL of the lists of what needs an administrator: what ends soon, and unused clients.
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import { clientReached, type Reach } from '../../../domain/reach.ts';

export interface EndRow {
  id: string;
  name: string;
  at: Date;
}
interface Until {
  realm: string;
  until: Date;
  limit: number;
}

const ends = (sql: Sql, { realm, until, limit }: Until, { from, at, name, and = fragment`` }: Source) => sql<EndRow>`
  select t.id, ${name} as name, ${at} as at from ${from} t
  where t.realm_id = ${realm} and ${at} <= ${until} ${and} order by ${at} limit ${limit}`;
interface Source {
  from: Fragment;
  at: Fragment;
  name: Fragment;
  and?: Fragment;
}

const acts = fragment`and t.status <> 'revoked'`;
const sources = {
  'client-secret': { from: fragment`client`, at: fragment`t.previous_secret_expires_at`, name: fragment`t.client_id` },
  invitation: { from: fragment`invitation`, at: fragment`t.expires_at`, name: fragment`t.email` },
  'initial-access-token': {
    from: fragment`initial_access_token`,
    at: fragment`t.expires_at`,
    name: fragment`t.id::text`,
  },
  'scim-token': { from: fragment`scim_token`, at: fragment`t.expires_at`, name: fragment`t.name` },
  agent: { from: fragment`agent`, at: fragment`t.expires_at`, name: fragment`t.name`, and: acts },
  'agent-review': {
    from: fragment`agent`,
    at: fragment`(coalesce(t.reviewed_at, t.created_at) + t.review_interval_days * interval '1 day')`,
    name: fragment`t.name`,
    and: acts,
  },
} satisfies Record<string, Source>;
export type DatedKind = keyof typeof sources;
export const datedKinds = Object.keys(sources) as DatedKind[];

export const endsOf = (sql: Sql, kind: DatedKind, until: Until): Promise<EndRow[]> => ends(sql, until, sources[kind]);

export interface CertificateRow {
  id: string;
  name: string;
  /** PEM, or base64 of DER. */
  certificate: string;
}

export const keyCertificates = (sql: Sql, realm: string) => sql<CertificateRow>`
  select key_id as id, key_id::text as name, certificate from realm_key
  where realm_id = ${realm} and certificate is not null and rotated_at is null`;

/** A realm with more certificates has a list of its own (`saml-clients`). */
const MOST_CERTIFICATES = 5000;
export const samlCertificates = (sql: Sql, realm: string) => sql<CertificateRow>`
  select t.id, t.entity_id as name, c.certificate from saml_client t
  cross join lateral unnest(t.signing_certificates || t.encryption_certificate) as c (certificate)
  where t.realm_id = ${realm} and c.certificate is not null limit ${MOST_CERTIFICATES}`;

export interface UnusedRow {
  id: string;
  client_id: string;
  name: string | null;
  enabled: boolean;
  used_at: Date | null;
  since: Date;
}

export const unusedClients = (
  sql: Sql,
  realm: string,
  { before, after, limit, reach }: { before: Date; after: string; limit: number; reach: Reach | undefined },
) => sql<UnusedRow>`
  select t.id, t.client_id, t.name, t.enabled, u.used_at, coalesce(u.since, t.created_at) as since
  from client t left join client_use u on u.realm_id = t.realm_id and u.client = t.id
  where t.realm_id = ${realm} and t.client_id > ${after}
    and coalesce(u.used_at, u.since, t.created_at) < ${before}
    ${reach ? clientReached(realm, reach) : fragment``}
  order by t.client_id limit ${limit}`;
