// An identity provider: its fields, and the check of its settings.
import { identityProviders } from '../../../server/contract/identity-providers.ts';
import { useMay } from '../../api/session.ts';
import { kindInSection } from '../../kinds/all.ts';
import { KindDetail } from '../../kinds/detail.tsx';
import type { Row } from '../../kinds/entry.ts';
import type { PageProps } from '../page.ts';
import { ProviderTest } from '../wizards/provider-test.tsx';

const fields = new Set(Object.keys(identityProviders.fields));
/** The fields of the answer that a request takes. */
const settingsOf = (row: Row): Row => Object.fromEntries(Object.entries(row).filter(([name]) => fields.has(name)));

export default function IdentityProviderPage({ params }: PageProps) {
  const { realm } = params;
  const may = useMay();
  const entry = kindInSection('identityProviders');
  if (!entry) return null;
  return (
    <KindDetail
      entry={entry}
      params={params}
      extras={{
        tabs: (row) =>
          may(realm, 'identity-providers:write')
            ? [{ id: 'check', label: 'Check', content: () => <ProviderTest realm={realm} body={settingsOf(row)} /> }]
            : [],
      }}
    />
  );
}
