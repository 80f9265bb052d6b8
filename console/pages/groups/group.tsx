// A group: its fields, its members, and the roles that it gives them.
import { useMay } from '../../api/session.ts';
import { detailWith } from '../../kinds/detail.tsx';
import type { Row } from '../../kinds/entry.ts';
import { inRealm } from '../../shell/addresses.ts';
import { ButtonLink } from '../../ui/button.tsx';
import type { Group } from './group-tree.ts';
import { GroupMembers } from './members.tsx';
import { GroupRoles } from './roles.tsx';

const groupOf = (row: Row): Group => row as unknown as Group;

export default detailWith('groups', ({ realm }) => {
  const mayReadUsers = useMay().partly(realm, 'users:read');
  const members = (row: Row) => <GroupMembers realm={realm} group={groupOf(row)} />;
  return {
    actions: (row) =>
      groupOf(row).parentId !== null && (
        <ButtonLink to={inRealm(realm, 'groups', String(groupOf(row).parentId))} variant="quiet">
          The group above
        </ButtonLink>
      ),
    tabs: (row) => [
      ...(mayReadUsers ? [{ id: 'members', label: 'Members', content: () => members(row) }] : []),
      { id: 'roles', label: 'Roles', content: () => <GroupRoles realm={realm} group={groupOf(row)} /> },
    ],
  };
});
