// Kind Realm: the settings and every section that the section table assigns to it, by the same names. Decisions "Custom
// resources".
import { z } from 'zod';
import { currentDocument } from '../../server/contract/earlier-documents.ts';
import { type RealmSpec, realmFields, RealmSpec as Schema } from '../../server/contract/resources/realm.ts';
import type { Section } from '../../server/contract/section.ts';
import { givesAdminRoles } from '../../server/contract/sections.ts';
import type { RealmDocument } from '../../server/contract/transfer.ts';
import { collectUnusable, type Kind } from './kind.ts';
import { outputsIn, referencesIn, withSecrets } from './secret-references.ts';
import { identitiesIn } from './service-accounts.ts';

export const realm: Kind<RealmSpec> = {
  name: 'Realm',
  spec: z.preprocess(currentDocument, Schema),
  deletionPolicy: 'Retain',
  attached: false,
  secrets: (spec) => declaredBy(spec).flatMap(({ section, value }) => referencesIn(section, value)),
  outputs: (spec) => declaredBy(spec).flatMap(({ section, value }) => outputsIn(section, value)),
  document(spec, context): RealmDocument {
    const { attempt, end } = collectUnusable();
    const sections = attempt(
      () => bySection(spec, (section, value) => withSecrets(section, value, context.secrets)),
      {},
    );
    const identities = declaredBy(spec).flatMap(({ section, value }) =>
      attempt(() => identitiesIn(section, value, context), []),
    );
    end();
    return identities.length > 0 ? { ...sections, workloadIdentity: identities } : sections;
  },
  givesAdminRoles: (spec) => givesAdminRoles(bySection(spec, (_, value) => value)),
  status: () => ({}),
};

/** The fields that the spec declares. Fields that it omits are left out, so that the manager owns only declared fields. */
const declaredBy = (spec: RealmSpec) =>
  Object.entries(spec).flatMap(([field, value]: [string, unknown]) => {
    const found = realmFields.get(field);
    return found && value !== undefined ? [{ ...found, value }] : [];
  });

function bySection(spec: RealmSpec, each: (section: Section, value: unknown) => unknown): Record<string, unknown> {
  const { attempt, end } = collectUnusable();
  const sections = declaredBy(spec).map(({ key, section, value }) => [key, attempt(() => each(section, value), value)]);
  end();
  return Object.fromEntries(sections);
}
