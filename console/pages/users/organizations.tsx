// The organizations of which a user is a member.
import { useState } from 'react';
import type { OutputOf } from '../../api/client.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { addMember, listUserOrganizations, removeMember } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { ConfirmWrite } from '../../kinds/confirm-write.tsx';
import { ReferenceField } from '../../kinds/reference-field.tsx';
import { inRealm } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Panel } from '../../ui/page.tsx';
import { PAGE_ROWS, Paged } from '../../ui/paged.tsx';
import { Empty, ProblemNote } from '../../ui/state.tsx';
import type { TableColumn } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import type { UserTab } from './user.tsx';
import type { User } from './words.ts';

type Membership = OutputOf<typeof listUserOrganizations>[number];

export default function Organizations({ realm, user }: UserTab) {
  const may = useMay();
  const { get } = useFilters();
  const cursor = get('orgs');
  const mayWrite = may(realm, 'organizations:write');
  const params = { realm, userId: user.id };
  const memberships = useRead(
    listUserOrganizations,
    { params, query: { limit: PAGE_ROWS, ...(cursor !== '' && { cursor }) } },
    { keep: true },
  );
  const [left, setLeft] = useState<Membership>();
  const columns: TableColumn<Membership>[] = [
    { id: 'name', head: 'organization', cell: ({ name }) => <bdi>{name}</bdi> },
    {
      id: 'display',
      head: 'display name',
      cell: ({ displayName }) => (displayName ? <bdi>{displayName}</bdi> : <span className="none">–</span>),
    },
    {
      id: 'state',
      head: 'state',
      cell: ({ enabled }) => <Badge tone={enabled ? 'good' : 'warn'}>{enabled ? 'enabled' : 'disabled'}</Badge>,
    },
    { id: 'joined', head: 'member since', cell: ({ joinedAt }) => <Time ms={joinedAt} /> },
    ...(mayWrite
      ? [
          {
            id: 'leave',
            head: 'membership',
            cell: (membership: Membership) => (
              <Button small aria-label={`Take out of ${membership.name}`} onPress={() => setLeft(membership)}>
                Take out
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <Panel
      title="Organizations"
      plain
      actions={<AsCommand quiet commands={() => ({ curl: curlOf(listUserOrganizations, params) })} />}
    >
      {mayWrite && <Join realm={realm} user={user} />}
      <Paged
        label="Organizations"
        read={memberships}
        filter="orgs"
        idOf={({ id }) => id}
        to={({ id }) => inRealm(realm, 'organizations', id)}
        columns={columns}
        empty={
          <Empty
            icon="org"
            title="The user is a member of no organization"
            actions={<ButtonLink to={inRealm(realm, 'organizations')}>Organizations</ButtonLink>}
          >
            <p>An organization is a company or a team whose users share the realm with others.</p>
          </Empty>
        }
      />
      {left && <Leave realm={realm} user={user} organization={left} onClose={() => setLeft(undefined)} />}
    </Panel>
  );
}

function Join({ realm, user }: { realm: string; user: User }) {
  const [id, setId] = useState<string | null>(null);
  /** The field begins anew after a choice was taken. */
  const [round, setRound] = useState(0);
  const add = useWrite(addMember);
  const join = () =>
    add.mutate(
      { params: { realm, id: id ?? '', userId: user.id } },
      {
        onSuccess: () => {
          setId(null);
          setRound(round + 1);
          say('Made the user a member.');
        },
      },
    );
  return (
    <div className="content list-tools">
      <ReferenceField
        key={round}
        realm={realm}
        kind="organization"
        label="Add to an organization"
        byId
        value={id}
        onChange={setId}
      />
      <Button isDisabled={id === null || add.isPending} onPress={join}>
        Add
      </Button>
      {add.error && <ProblemNote problem={add.error} />}
    </div>
  );
}

function Leave({
  realm,
  user,
  organization: { id, name },
  onClose,
}: {
  realm: string;
  user: User;
  organization: Membership;
  onClose: () => void;
}) {
  return (
    <ConfirmWrite
      title={`Take ${user.username} out of ${name}?`}
      action="Take out"
      route={removeMember}
      input={{ params: { realm, id, userId: user.id } }}
      done={`Took the user out of ${name}.`}
      onClose={onClose}
    >
      <p>The user stays in the realm, and tokens name the organization no longer.</p>
    </ConfirmWrite>
  );
}
