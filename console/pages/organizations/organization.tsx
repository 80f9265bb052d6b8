// An organization: its fields, members, domains and invitations.
import { useMay } from '../../api/session.ts';
import { kindInSection } from '../../kinds/all.ts';
import { KindDetail } from '../../kinds/detail.tsx';
import type { PageProps } from '../page.ts';
import { Domains, type OrganizationDomain } from './domains.tsx';
import { Invitations } from './invitations.tsx';
import { Members } from './members.tsx';

const domainsOf = (value: unknown): OrganizationDomain[] => (Array.isArray(value) ? value : []);

export default function OrganizationPage({ params }: PageProps) {
  const { realm, key = '' } = params;
  const may = useMay();
  const entry = kindInSection('organizations');
  if (!entry) return null;
  const isWriter = may(realm, 'organizations:write');
  return (
    <KindDetail
      entry={entry}
      params={params}
      extras={{
        tabs: (row) => [
          {
            id: 'members',
            label: 'Members',
            content: () => <Members realm={realm} id={key} name={String(row.name)} isWriter={isWriter} />,
          },
          {
            id: 'domains',
            label: 'Domains',
            content: () => <Domains realm={realm} id={key} domains={domainsOf(row.domains)} isWriter={isWriter} />,
          },
          ...(may(realm, 'users:read')
            ? [
                {
                  id: 'invitations',
                  label: 'Invitations',
                  content: () => (
                    <Invitations
                      realm={realm}
                      organization={String(row.name)}
                      isWriter={isWriter && may(realm, 'users:write')}
                    />
                  ),
                },
              ]
            : []),
        ],
      }}
    />
  );
}
