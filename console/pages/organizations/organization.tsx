// An organization: its fields, members, domains and invitations.
import { useMay } from '../../api/session.ts';
import { detailWith } from '../../kinds/detail.tsx';
import type { Row } from '../../kinds/entry.ts';
import { Domains, type OrganizationDomain } from './domains.tsx';
import { Invitations } from './invitations.tsx';
import { Members } from './members.tsx';

const domainsOf = (value: unknown): OrganizationDomain[] => (Array.isArray(value) ? value : []);

export default detailWith('organizations', ({ realm, key }) => {
  const may = useMay();
  const isWriter = may(realm, 'organizations:write');
  const mayInvite = isWriter && may(realm, 'users:write');
  const invitations = (row: Row) => <Invitations realm={realm} organization={String(row.name)} isWriter={mayInvite} />;
  return {
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
        ? [{ id: 'invitations', label: 'Invitations', content: () => invitations(row) }]
        : []),
    ],
  };
});
