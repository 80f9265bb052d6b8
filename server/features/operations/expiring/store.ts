// SQL of the lists of what needs an administrator: what ends soon, and unused clients.
import { DAY_MS } from '../../../contract/durations.ts';
import { Fragment, fragment, type Sql } from '../../../db/sql.ts';
import { clientReached, type Reach } from '../../../domain/reach.ts';

export interface EndRow {
  realm: string;
  kind: DatedKind;
  id: string;
  name: string;
  at: Date;
}
interface Source {
  from: Fragment;
  at: Fragment;
  name: Fragment;
  /** Condition on rows `t`. */
  and?(now: Date): Fragment;
}

/** Nothing can be done about a former secret that has ended, so it is listed only for so long, in case an application still uses it. */
const FORMER_SECRET_MS = 7 * DAY_MS;
const acts = () => fragment`t.status <> 'revoked'`;
const sources = {
  'client-secret': {
    from: fragment`client`,
    at: fragment`t.previous_secret_expires_at`,
    name: fragment`t.client_id`,
    and: (now) => fragment`t.previous_secret_expires_at > ${new Date(now.getTime() - FORMER_SECRET_MS)}`,
  },
  invitation: { from: fragment`invitation`, at: fragment`t.expires_at`, name: fragment`t.email` },
  'initial-access-token': {
    from: fragment`initial_access_token`,
    at: fragment`t.expires_at`,
    // it has no name; the id says nothing to a reader
    name: fragment`'made ' || to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC, for ' || t.uses_left || case t.uses_left when 1 then ' client' else ' clients' end`,
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
/** Kinds whose rows have the time of their end. */
export type DatedKind = keyof typeof sources;
export const isDated = (kind: string): kind is DatedKind => Object.hasOwn(sources, kind);

/** null: all realms. */
const within = (realm: string | null) => (realm === null ? fragment`true` : fragment`t.realm_id = ${realm}`);

/** What ends until then: of each kind the soonest ones, at most `limit`. */
export async function endsOf(
  sql: Sql,
  realm: string | null,
  kinds: readonly DatedKind[],
  { now, until, limit }: { now: Date; until: Date; limit: number },
): Promise<EndRow[]> {
  const [first, ...rest] = kinds.map((kind) => {
    const { from, at, name, and = () => fragment`true` }: Source = sources[kind];
    return fragment`(select t.realm_id as realm, ${kind}::text as kind, t.id, ${name} as name, ${at} as at from ${from} t
      where ${within(realm)} and ${at} <= ${until} and ${and(now)} order by ${at} limit ${limit})`;
  });
  if (!first) return [];
  return sql<EndRow>`${rest.reduce((all, one) => fragment`${all} union all ${one}`, first)}`;
}

export interface CertificateRow {
  realm: string;
  kind: 'key-certificate' | 'saml-client-certificate';
  id: string;
  name: string;
  /** PEM, or base64 of DER. */
  certificate: string;
}
/** A realm with more certificates has a list of its own (`saml-clients`). */
const MOST_CERTIFICATES = 5000;

/** The certificates of these kinds. SQL can't read when they end. */
export const certificatesOf = (sql: Sql, realm: string | null, kinds: readonly string[]) => sql<CertificateRow>`
  (select t.realm_id as realm, 'key-certificate' as kind, t.key_id as id, t.key_id::text as name, t.certificate from realm_key t
  where 'key-certificate' = any(${kinds}::text[]) and ${within(realm)} and t.certificate is not null and t.rotated_at is null
  limit ${MOST_CERTIFICATES})
  union all
  (select t.realm_id, 'saml-client-certificate', t.id, t.entity_id, c.certificate from saml_client t
  cross join lateral unnest(t.signing_certificates || t.encryption_certificate) as c (certificate)
  where 'saml-client-certificate' = any(${kinds}::text[]) and ${within(realm)} and c.certificate is not null
  limit ${MOST_CERTIFICATES})`;

export interface UnusedRow {
  id: string;
  client_id: string;
  name: string | null;
  enabled: boolean;
  used_at: Date | null;
  since: Date;
}

/** Each client has a row of its use, and an index by its time. Not prepared: whether few are unused, or many, depends on the realm. */
export const unusedClients = (
  sql: Sql,
  realm: string,
  { before, after, limit, reach }: { before: Date; after: string; limit: number; reach: Reach | undefined },
) => sql<UnusedRow>`${Fragment.once('')}
  select t.id, t.client_id, t.name, t.enabled, u.used_at, u.since
  from client_use u join client t on t.realm_id = u.realm_id and t.id = u.client
  where u.realm_id = ${realm} and coalesce(u.used_at, u.since) < ${before} and t.client_id > ${after}
    ${reach ? clientReached(realm, reach) : fragment``}
  order by t.client_id limit ${limit}`;
