// The members of an organization.
import type { OutputOf } from '../../api/client.ts';
import type { LightRoute } from '../../api/light.ts';
import { addMember, listMembers, removeMember } from '../../generated/routes.ts';
import { UserMembers } from '../../kinds/user-members.tsx';
import type { TableColumn } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type Member = OutputOf<typeof listMembers>[number];
const routes = {
  list: listMembers as LightRoute,
  add: addMember as LightRoute,
  remove: removeMember as LightRoute,
};
const joined: readonly TableColumn<Member>[] = [
  { id: 'joined', head: 'joined', cell: ({ joinedAt }) => <Time ms={joinedAt} /> },
];

export function Members({ realm, id, name, isWriter }: { realm: string; id: string; name: string; isWriter: boolean }) {
  return (
    <UserMembers<Member>
      realm={realm}
      id={id}
      name={name}
      one="member"
      routes={routes}
      more={joined}
      isWriter={isWriter}
      empty={{
        title: 'It has no members yet',
        words: 'Add users of the realm, or invite people by their e-mail address.',
      }}
      consequence="They stay users of the realm. Their next tokens no longer name the organization."
    />
  );
}
