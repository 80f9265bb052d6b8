// The credential as a resource: the same by the admin API and in the realm document. Specification 2.8, 4.7 (admin);
// decisions "Rights": an administrator who lets a workload act as a client could act as it, so they need the client's rights.
import { type FieldError, Problem } from '../../../contract/problem.ts';
import { workloadIdentity } from '../../../contract/workload-identity.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import { trustDomainOf } from '../../../domain/workload-token.ts';
import { isNoRealms } from '../../../http/own-addresses.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { joinPaths } from '../../../resource/items.ts';
import { clientIn } from '../../../resource/one-for-client.ts';
import type { Fields, Wanted } from '../../../resource/part.ts';

const KIND = 'workloadIdentity';

interface Match {
  id: string;
  name: string;
  issuer: string;
  subject: string;
  audience: string;
}
/** The tokens that the credential accepts, as a key: unique in a realm. */
const matchOf = ({ issuer, subject, audience }: Fields | Match): string => JSON.stringify([issuer, subject, audience]);

/** @throws Problem `name-taken` if another credential has this issuer, subject and audience */
async function refuseSharedTrust(sql: Sql, realm: string, changes: readonly Wanted[]): Promise<[]> {
  const changed = changes.filter(({ kind }) => kind === KIND);
  const saved = changed.filter(({ action }) => action !== 'delete');
  if (saved.length === 0) return [];
  const others = await sql<Match>`
    select id, name, issuer, subject, audience from workload_identity
    where realm_id = ${realm} and id <> all(${changed.flatMap((c) => c.id ?? [])}::uuid[])
      and subject = any(${saved.map((s) => String(s.fields.subject))}::text[])`;
  const trusted = new Map(others.map((row) => [matchOf(row), row.name]));
  for (const { key, fields, path } of saved) {
    const match = matchOf(fields);
    const other = trusted.get(match);
    if (other !== undefined)
      throw new Problem('name-taken', `The credential ${other} has this issuer, subject and audience already`, {
        errors: [{ path: joinPaths(path, 'subject'), message: `is trusted by ${other} for this issuer and audience` }],
      });
    trusted.set(match, key);
  }
  return [];
}

/** A trust domain vouches only for its own SPIFFE IDs, by the keys in its bundle. */
function trustDomainFaults({ issuer, subject, jwksUri }: Fields): FieldError[] {
  const domain = String(issuer);
  if (!domain.startsWith('spiffe:')) return [];
  const form = /^spiffe:\/\/[a-z0-9._-]{1,255}$/.test(domain);
  return [
    ...(form ? [] : [{ path: 'issuer', message: 'must be a trust domain alone, such as spiffe://example.org' }]),
    ...(trustDomainOf(String(subject)) === domain
      ? []
      : [{ path: 'subject', message: `must be a SPIFFE ID of ${domain}` }]),
    ...(jwksUri === null || jwksUri === undefined
      ? [{ path: 'jwksUri', message: 'is needed: a trust domain has no discovery; name its bundle endpoint' }]
      : []),
  ];
}

const authenticates = ({ use }: Fields): boolean => use === 'authentication' || use === 'both';

export const workloadIdentityResource = (deps: ResourceDeps) =>
  declaredResource(
    workloadIdentity,
    {
      fallsWith: { kind: 'client', which: (_, removed) => fragment`t.client_id = any(${removed}::text[])` },
      check: ({ fields, changed }) => [
        ...(changed.includes('issuer') && isNoRealms(String(fields.issuer), deps.baseUrl)
          ? [{ path: 'issuer', message: 'is this server’s, and no realm’s issuer' }]
          : []),
        ...trustDomainFaults(fields),
      ],
      whole: refuseSharedTrust,
      // Credentials may swap unique values in one document: nothing refers to them.
      atOnce: true,
      clientOf: (_, fields) => String(fields.clientId),
      detail: ({ issuer, subject, audience, scopes, enabled, use, singleUse, adminAccess }) => ({
        issuer,
        subject,
        audience,
        scopes,
        enabled,
        use,
        singleUse,
        adminAccess,
      }),
      // Both clients: an administrator without a client's rights can't take over its credential, move one to it, or
      // delete one, which would lock the client out.
      actsAs: ({ before, save }) => [...clientIn(before), ...clientIn(save)],
      // An identity that authenticates a client is worth the client's secret, which clients:write may replace.
      needs: ({ before = {}, save }) =>
        authenticates(before) || authenticates({ ...before, ...save }) ? ['clients:write'] : [],
    },
    deps,
  );
