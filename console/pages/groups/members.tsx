// The users who are in a group itself; those of the groups below are listed there.
import type { LightRoute } from '../../api/light.ts';
import { useMay } from '../../api/session.ts';
import { addGroupMember, listGroupMembers, removeGroupMember } from '../../generated/routes.ts';
import { UserMembers } from '../../kinds/user-members.tsx';
import type { Group } from './group-tree.ts';

const routes = {
  list: listGroupMembers as LightRoute,
  add: addGroupMember as LightRoute,
  remove: removeGroupMember as LightRoute,
};

export function GroupMembers({ realm, group: { id, path } }: { realm: string; group: Group }) {
  const may = useMay();
  return (
    <UserMembers
      realm={realm}
      id={id}
      name={path}
      one="user"
      routes={routes}
      isWriter={may.partly(realm, 'users:write')}
      empty={{
        title: 'No user is in this group itself',
        words: 'Members have its roles and attributes. Members of the groups below it are listed there.',
      }}
      consequence="They lose the roles and attributes that they have by this group alone. They stay users of the realm."
    />
  );
}
