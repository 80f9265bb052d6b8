// Owns: SAML clients as administrators configure them.
// Does not own: signing in to them (features/protocol/saml), reading metadata (metadata.ts), fetching it (import.ts), the application of a client.
// Implements: specification 2.10, 4.10; decisions "SAML client".
import { sessionFacts, userProperties } from '../../../contract/claims.ts';
import type { FieldError } from '../../../contract/problem.ts';
import { samlClients } from '../../../contract/saml-clients.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { asSet, strings } from '../../../resource/items.ts';
import type { Fields } from '../../../resource/part.ts';
import { isCertificate, pem } from './certificates.ts';

const list = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(Object) : []);

/** The consumers, each with an index, one of them the default. */
function canonicalConsumers(value: unknown): Fields[] {
  const all = list(value);
  const taken = new Set(all.map(({ index }) => index));
  const chosen = Math.max(
    all.findIndex((one) => one.default === true),
    0,
  );
  let free = 0;
  const nextIndex = () => {
    while (taken.has(free)) free++;
    return free++;
  };
  return all.map((one, i) => ({
    url: one.url,
    binding: one.binding ?? 'POST',
    index: one.index ?? nextIndex(),
    default: one.default ?? i === chosen,
  }));
}

const freshMapper = { claim: null, nameFormat: 'basic', source: 'attribute', attribute: null, value: null };

const inForm = (certificate: unknown): unknown => (typeof certificate === 'string' ? pem(certificate) : certificate);
const forms: Record<string, (value: unknown) => unknown> = {
  assertionConsumerServices: canonicalConsumers,
  signingCertificates: (all) => asSet(strings(all).map(pem)),
  encryptionCertificate: inForm,
  metadataCertificate: inForm,
  mappers: (all) =>
    list(all)
      .map((mapper) => ({ ...freshMapper, ...mapper }))
      .sort((a, b) => (String(Object(a).name) < String(Object(b).name) ? -1 : 1)),
};
const canonical = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, forms[field]?.(value) ?? value]));

function consumerFaults(value: unknown): FieldError[] {
  const path = 'assertionConsumerServices';
  const all = list(value);
  const indexes = all.map(({ index }) => index);
  return [
    ...(all.length === 0 ? [{ path, message: 'must hold one at least' }] : []),
    ...all.flatMap(({ binding }, i) =>
      binding === 'POST' ? [] : [{ path: `${path}[${i}].binding`, message: 'must be POST: assertions go by no other' }],
    ),
    ...(new Set(indexes).size === indexes.length ? [] : [{ path, message: 'must not have an index twice' }]),
    ...(all.filter((one) => one.default === true).length === 1 ? [] : [{ path, message: 'must have one default' }]),
  ];
}

function certificateFaults({ signingCertificates, encryptionCertificate, metadataCertificate }: Fields): FieldError[] {
  const all = [
    ...strings(signingCertificates).map((text, i) => [`signingCertificates[${i}]`, text] as const),
    ...strings([encryptionCertificate]).map((text) => ['encryptionCertificate', text] as const),
    ...strings([metadataCertificate]).map((text) => ['metadataCertificate', text] as const),
  ];
  return all.flatMap(([path, text]) => (isCertificate(text) ? [] : [{ path, message: 'is no certificate' }]));
}

function mapperFaults(value: unknown): FieldError[] {
  const known: Record<string, readonly string[]> = { property: userProperties, session: sessionFacts };
  return list(value).flatMap(({ source, attribute, value: constant }, i) => {
    const allowed = known[String(source)];
    if (allowed && !allowed.includes(String(attribute)))
      return [{ path: `mappers[${i}].attribute`, message: `must be one of ${allowed.join(', ')}` }];
    return source === 'constant' && typeof constant !== 'string'
      ? [{ path: `mappers[${i}].value`, message: 'is needed for a constant' }]
      : [];
  });
}

export const samlClientsResource = (deps: Pick<ResourceDeps, 'seal' | 'now'>) =>
  declaredResource(
    samlClients,
    {
      canonical,
      check: ({ fields }) => [
        ...consumerFaults(fields.assertionConsumerServices),
        ...certificateFaults(fields),
        ...mapperFaults(fields.mappers),
        ...(fields.requireSignedRequests === true && strings(fields.signingCertificates).length === 0
          ? [{ path: 'signingCertificates', message: 'are needed to check requests that must be signed' }]
          : []),
        ...(fields.encryptAssertions === true && typeof fields.encryptionCertificate !== 'string'
          ? [{ path: 'encryptionCertificate', message: 'is needed to encrypt assertions' }]
          : []),
      ],
      keptWhileNamed: true,
      dependents: (sql, realm, removed) => sql<{ kind: string; key: string; on: string; field: string }>`
        select 'application' as kind, a.name as key, n.entity as on, 'samlClients' as field
        from application a cross join lateral unnest(a.saml_clients) as n (entity)
        where a.realm_id = ${realm} and n.entity = any(${removed}::text[])`,
      keyStays: 'make another client instead',
      detail: ({ enabled }) => ({ enabled }),
    },
    deps,
  );
