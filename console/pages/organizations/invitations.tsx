// Invitations to an organization that are not accepted yet: send one, send it again, revoke it.
import { useState } from 'react';
import type { OutputOf } from '../../api/client.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { listInvitations, resendInvitation, revokeInvitation } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { ConfirmWrite } from '../../kinds/confirm-write.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Pager } from '../../ui/pager.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { actionsColumn, Table, type TableColumn } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import { InvitationLink, Invite } from './invite.tsx';

type Invitation = OutputOf<typeof listInvitations>[number];
const PAGE_ROWS = 50;

export function Invitations({
  realm,
  organization,
  isWriter,
}: {
  realm: string;
  organization: string;
  isWriter: boolean;
}) {
  const cursor = useFilters().get('cursor');
  const query = { organization, limit: PAGE_ROWS, ...(cursor !== '' && { cursor }) };
  const invitations = useRead(listInvitations, { params: { realm }, query }, { keep: true });
  const [invites, setInvites] = useState(false);
  const [link, setLink] = useState<{ email: string; link: string }>();
  const [revoked, setRevoked] = useState<Invitation>();
  const resend = useWrite(resendInvitation);
  const rows = invitations.data?.body ?? [];
  const sendAgain = ({ id, email, mailedAt }: Invitation) =>
    resend.mutate(
      { params: { realm, id }, body: { mail: mailedAt !== null } },
      {
        onSuccess: ({ body }) => {
          if (body?.link) setLink({ email, link: body.link });
          else say(`Sent a new link to ${email}.`);
        },
      },
    );
  const columns: TableColumn<Invitation>[] = [
    { id: 'email', head: 'e-mail', cell: ({ email }) => <bdi>{email}</bdi> },
    {
      id: 'sent',
      head: 'link',
      cell: ({ mailedAt }) => (mailedAt === null ? <Badge>handed over</Badge> : <Time ms={mailedAt} />),
    },
    {
      id: 'expires',
      head: 'expires',
      cell: ({ expiresAt }) => (expiresAt < Date.now() ? <Badge tone="warn">expired</Badge> : <Time ms={expiresAt} />),
    },
    ...actionsColumn(isWriter, (invitation: Invitation) => (
      <span className="row">
        <Button
          small
          aria-label={`New link for ${invitation.email}`}
          isDisabled={resend.isPending}
          onPress={() => sendAgain(invitation)}
        >
          New link
        </Button>
        <Button
          small
          variant="danger"
          aria-label={`Revoke the invitation of ${invitation.email}`}
          onPress={() => setRevoked(invitation)}
        >
          Revoke
        </Button>
      </span>
    )),
  ];
  return (
    <div className="stack">
      <div className="row end">
        <AsCommand quiet commands={() => requestCommands(listInvitations, { realm }, undefined, { organization })} />
        {isWriter && (
          <Button icon="mail" onPress={() => setInvites(true)}>
            Invite by e-mail
          </Button>
        )}
      </div>
      {resend.error && <ProblemNote problem={resend.error} />}
      {invitations.error && <ProblemNote problem={invitations.error} retry={() => void invitations.refetch()} />}
      {!invitations.data ? (
        !invitations.error && <Loading lines={4} />
      ) : rows.length === 0 && cursor === '' ? (
        <div className="panel">
          <Empty icon="mail" title="No invitation is open">
            <p>An invitation is a link for one use. A person without an account makes one with it first.</p>
          </Empty>
        </div>
      ) : (
        <>
          <Table
            label={`Invitations to ${organization}`}
            columns={columns}
            rows={rows}
            idOf={({ id }) => id}
            stale={invitations.isPlaceholderData}
          />
          <Pager shown={rows.length} total={invitations.data.total} nextCursor={invitations.data.nextCursor} />
        </>
      )}
      {invites && (
        <Invite
          realm={realm}
          organization={organization}
          onClose={(sent) => {
            setInvites(false);
            if (sent?.link) setLink({ email: sent.email, link: sent.link });
          }}
        />
      )}
      {link && <InvitationLink {...link} onClose={() => setLink(undefined)} />}
      {revoked && (
        <ConfirmWrite
          title={`Revoke the invitation of ${revoked.email}?`}
          action="Revoke"
          route={revokeInvitation}
          input={{ params: { realm, id: revoked.id } }}
          done="Revoked the invitation."
          onClose={() => setRevoked(undefined)}
        >
          <p>The link in the mail no longer works.</p>
        </ConfirmWrite>
      )}
    </div>
  );
}
