// A directory: its fields, and the test of its connection and mapping.
import { useMay } from '../../api/session.ts';
import { kindInSection } from '../../kinds/all.ts';
import { KindDetail } from '../../kinds/detail.tsx';
import { objectAddress } from '../../kinds/pages.tsx';
import { inRealm } from '../../shell/addresses.ts';
import { ButtonLink } from '../../ui/button.tsx';
import type { PageProps } from '../page.ts';
import { DirectoryTest } from '../wizards/directory-test.tsx';

export default function DirectoryPage({ params }: PageProps) {
  const { realm } = params;
  const may = useMay();
  const entry = kindInSection('userFederation');
  if (!entry) return null;
  return (
    <KindDetail
      entry={entry}
      params={params}
      extras={{
        actions: (row) => (
          <ButtonLink
            to={`${inRealm(realm, 'operations')}?${new URLSearchParams({ tab: 'syncs', directory: String(row.alias) })}`}
          >
            Syncs
          </ButtonLink>
        ),
        tabs: (row) =>
          may(realm, 'user-federation:write')
            ? [
                {
                  id: 'test',
                  label: 'Test',
                  content: () => (
                    <DirectoryTest
                      realm={realm}
                      alias={String(row.alias)}
                      edit={`${objectAddress(realm, entry, row)}/edit`}
                    />
                  ),
                },
              ]
            : [],
      }}
    />
  );
}
