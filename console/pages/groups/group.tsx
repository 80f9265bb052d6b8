// A group: its fields, its members, and the roles that it gives them.

import { useMay } from '../../api/session.ts';
import { kindInSection } from '../../kinds/all.ts';
import { KindDetail } from '../../kinds/detail.tsx';
import type { Row } from '../../kinds/entry.ts';
import { inRealm } from '../../shell/addresses.ts';
import { ButtonLink } from '../../ui/button.tsx';
import type { PageProps } from '../page.ts';
import type { Group } from './group-tree.ts';
import { GroupMembers } from './members.tsx';
import { GroupRoles } from './roles.tsx';

const groupOf = (row: Row): Group => row as unknown as Group;

export default function GroupPage({ params }: PageProps) {
  const may = useMay();
  const entry = kindInSection('groups');
  if (!entry) return null;
  const { realm } = params;
  return (
    <KindDetail
      entry={entry}
      params={params}
      extras={{
        actions: (row) =>
          groupOf(row).parentId !== null && (
            <ButtonLink to={inRealm(realm, 'groups', String(groupOf(row).parentId))} variant="quiet">
              The group above
            </ButtonLink>
          ),
        tabs: (row) => [
          ...(may.partly(realm, 'users:read')
            ? [
                {
                  id: 'members',
                  label: 'Members',
                  content: () => <GroupMembers realm={realm} group={groupOf(row)} />,
                },
              ]
            : []),
          { id: 'roles', label: 'Roles', content: () => <GroupRoles realm={realm} group={groupOf(row)} /> },
        ],
      }}
    />
  );
}
