// A value for each field of the kinds that are declared as a whole: what their contract gives as examples. What refers to objects
// that no fresh realm has is given here; same-by-both-ways.test.ts makes those objects.
import { separateWords } from '../../../server/contract/apart.ts';
import { declaredKinds } from '../../../server/contract/declared-kinds.ts';
import type { KindOf } from '../../../server/contract/kind.ts';
import { tableOf } from '../../../server/resource/declared.ts';
import { SAML_CERTIFICATE } from '../../support/saml.ts';
import type { Sample } from './sample.ts';

type Own = Partial<Omit<Sample, 'section' | 'table' | 'key' | 'routes'>>;
const own: Readonly<Record<string, Own>> = {
  // its natural key is no free name
  messageTexts: { keyOf: (name) => `de-${name.split('-')[1]?.slice(0, 8)}` },
  // each realm has an ana of its own
  agents: { fields: { owner: 'ana', clientId: 'jobs', scopes: ['roles', 'email', 'roles'] }, random: ['user_id'] },
  applications: {
    fields: { clients: ['jobs', 'app'] },
    links: `select array(select c.client_id from application_client ac join client c on c.realm_id = ac.realm_id and c.id = ac.client
      where ac.realm_id = t.realm_id and ac.application_id = t.id order by 1)`,
  },
  clientScopes: {
    links: `select array(
      select k.name from client_scope_claim l join claim k on k.realm_id = l.realm_id and k.id = l.claim_id
      where l.realm_id = t.realm_id and l.scope_id = t.id order by 1)`,
  },
  identityProviders: {
    needed: { config: { issuer: 'https://id.example.com' } },
    fields: { scopes: ['openid', 'email', 'openid'] },
  },
  organizations: {
    links: `select array(select jsonb_build_array(d.name, d.verified) from organization_domain d
      where d.realm_id = t.realm_id and d.organization_id = t.id order by 1)`,
  },
  samlClients: {
    fields: {
      signingCertificates: [SAML_CERTIFICATE, SAML_CERTIFICATE.trim()],
      encryptionCertificate: SAML_CERTIFICATE.trim(),
      metadataCertificate: SAML_CERTIFICATE,
    },
    whole: { requireSignedRequests: true, encryptAssertions: true },
  },
  webhooks: { needed: { enabled: true } },
  workloadIdentity: { needed: { clientId: 'app' }, fields: { clientId: 'jobs' } },
};

export const declaredSamples: readonly Sample[] = Object.values<KindOf>(declaredKinds).map(
  ({ section, kind, routes, needed, entry: { key, secrets } }) => {
    const { [key]: _, ...fields } = routes.put.example ?? {};
    const first = routes.create.example ?? {};
    const there = Object.fromEntries(needed.map((field) => [field, first[field]]));
    const { [section]: more = {} } = own;
    return {
      random: secrets,
      ...more,
      section,
      table: tableOf(kind),
      key,
      column: separateWords(key, '_'),
      routes,
      needed: { ...there, ...more.needed },
      fields: { ...fields, ...more.fields },
    };
  },
);
