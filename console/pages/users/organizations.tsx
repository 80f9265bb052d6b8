// The organizations of the realm, and of which the user is a member. The API names an organization's members, and not a user's
// organizations, so each shown one is asked for.
import { useState } from 'react';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { addMember, listOrganizations, listUsers, removeMember } from '../../generated/routes.ts';
import { inRealm } from '../../shell/addresses.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Find } from '../../ui/find.tsx';
import { Panel } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { say } from '../../ui/toast.tsx';
import type { UserTab } from './user.tsx';
import type { User } from './words.ts';

/** Each row is a request. */
const PAGE_ROWS = 10;
/** Users whose names begin alike. */
const ALIKE = 100;

interface Organization {
  id: string;
  name: string;
}

export default function Organizations({ realm, user }: UserTab) {
  const { get, set } = useFilters();
  const q = get('org');
  const cursor = get('orgs');
  const organizations = useRead(
    listOrganizations,
    {
      params: { realm },
      query: { limit: PAGE_ROWS, ...(q !== '' && { q }), ...(cursor !== '' && { cursor }) },
    },
    { keep: true },
  );
  const [left, setLeft] = useState<Organization>();
  const rows = organizations.data?.body ?? [];
  return (
    <Panel title="Organizations" plain>
      <div className="content list-tools">
        <Find label="Find organizations" value={q} onChange={(text) => set({ org: text, orgs: undefined })} />
      </div>
      {organizations.error && <ProblemNote problem={organizations.error} retry={() => void organizations.refetch()} />}
      {!organizations.data && !organizations.error && <Loading lines={4} />}
      {organizations.data && (
        <Table
          label="Organizations"
          rows={rows}
          idOf={({ id }) => String(id)}
          stale={organizations.isPlaceholderData}
          columns={[
            { id: 'name', head: 'organization', cell: ({ name }) => <bdi>{String(name)}</bdi> },
            {
              id: 'display',
              head: 'display name',
              cell: ({ displayName }) =>
                displayName ? <bdi>{String(displayName)}</bdi> : <span className="none">–</span>,
            },
            {
              id: 'member',
              head: 'membership',
              cell: ({ id, name }) => (
                <Membership
                  realm={realm}
                  user={user}
                  organization={{ id: String(id), name: String(name) }}
                  onLeave={() => setLeft({ id: String(id), name: String(name) })}
                />
              ),
            },
          ]}
          empty={
            q !== '' ? (
              <Empty icon="search" title="No organization matches" />
            ) : (
              <Empty
                icon="org"
                title="The realm has no organizations"
                actions={<ButtonLink to={inRealm(realm, 'organizations')}>Organizations</ButtonLink>}
              >
                <p>An organization is a company or a team whose users share the realm with others.</p>
              </Empty>
            )
          }
        />
      )}
      {rows.length > 0 && (
        <div className="content">
          <Pager
            shown={rows.length}
            total={q === '' ? organizations.data?.total : undefined}
            nextCursor={organizations.data?.nextCursor}
            filter="orgs"
          />
        </div>
      )}
      {left && <Leave realm={realm} user={user} organization={left} onClose={() => setLeft(undefined)} />}
    </Panel>
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
  organization: Organization;
  onClose: () => void;
}) {
  const remove = useWrite(removeMember);
  return (
    <Confirm
      title={`Take ${user.username} out of ${name}?`}
      action="Take out"
      busy={remove.isPending}
      problem={remove.error}
      onClose={onClose}
      onConfirm={() =>
        remove.mutate(
          { params: { realm, id, userId: user.id } },
          {
            onSuccess: () => {
              onClose();
              say(`Took the user out of ${name}.`);
            },
          },
        )
      }
    >
      <p>The user stays in the realm, and tokens name the organization no longer.</p>
    </Confirm>
  );
}

function Membership({
  realm,
  user,
  organization: { id, name },
  onLeave,
}: {
  realm: string;
  user: User;
  organization: Organization;
  /** The question is asked outside of the table, which would take its keys. */
  onLeave: () => void;
}) {
  const may = useMay();
  const mayWrite = may(realm, 'organizations:write');
  const members = useRead(listUsers, {
    params: { realm },
    query: {
      organization: name,
      limit: ALIKE,
      ...(user.email === null ? { q: user.username } : { email: user.email }),
    },
  });
  const add = useWrite(addMember);
  const params = { realm, id, userId: user.id };
  if (members.error) return <span className="fault">{members.error.message}</span>;
  if (!members.data) return <span className="soft">…</span>;
  const isMember = members.data.body?.some((one) => one.id === user.id) === true;
  return (
    <span className="row">
      {isMember ? <Badge tone="good">member</Badge> : <span className="none">no member</span>}
      {mayWrite && (
        <Button
          small
          aria-label={isMember ? `Take out of ${name}` : `Add to ${name}`}
          isDisabled={add.isPending}
          onPress={() => {
            if (isMember) onLeave();
            else add.mutate({ params }, { onSuccess: () => say(`Made the user a member of ${name}.`) });
          }}
        >
          {isMember ? 'Take out' : 'Add'}
        </Button>
      )}
      {add.error && (
        <span className="fault" role="alert">
          {add.error.message}
        </span>
      )}
    </span>
  );
}
