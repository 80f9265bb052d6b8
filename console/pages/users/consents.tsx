// The consents of a user, by application.
import { useState } from 'react';
import type { OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { listUserConsents, revokeUserConsent } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { ConfirmWrite } from '../../kinds/confirm-write.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Chips } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/page.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import type { UserTab } from './user.tsx';

type Consent = OutputOf<typeof listUserConsents>[number];

export default function Consents({ realm, user }: UserTab) {
  const params = { realm, userId: user.id };
  const may = useMay();
  const [asked, setAsked] = useState<Consent>();
  const consents = useRead(listUserConsents, { params });
  return (
    <Panel
      title="Consents"
      lead="What the user has allowed applications. The user takes a consent back on the account page."
      plain
      actions={<AsCommand quiet commands={() => requestCommands(listUserConsents, params)} />}
    >
      {consents.error && <ProblemNote problem={consents.error} retry={() => void consents.refetch()} />}
      {!consents.data && !consents.error && <Loading lines={4} />}
      {consents.data && (
        <Table
          label="Consents"
          rows={consents.data.body ?? []}
          idOf={({ clientId }) => clientId}
          columns={[
            {
              id: 'client',
              head: 'application',
              cell: ({ clientName, clientId }) => <bdi>{clientName ?? clientId}</bdi>,
            },
            { id: 'scopes', head: 'scopes', cell: ({ scopes }) => <Chips items={scopes} most={5} /> },
            { id: 'resources', head: 'for', cell: ({ resources }) => <Chips items={resources} most={3} /> },
            { id: 'claims', head: 'further claims', cell: ({ claims }) => <Chips items={claims} most={5} /> },
            { id: 'granted', head: 'first given', cell: ({ grantedAt }) => <Time ms={grantedAt} /> },
            { id: 'updated', head: 'last given', cell: ({ updatedAt }) => <Time ms={updatedAt} /> },
            ...(may(realm, 'users:write')
              ? [
                  {
                    id: 'revoke',
                    head: 'take back',
                    cell: (consent: Consent) => (
                      <Button
                        small
                        aria-label={`Take back the consent for ${consent.clientName ?? consent.clientId}`}
                        onPress={() => setAsked(consent)}
                      >
                        Take back
                      </Button>
                    ),
                  },
                ]
              : []),
          ]}
          empty={
            <Empty icon="check" title="The user has agreed to nothing">
              <p>Only clients that ask for consent are listed here.</p>
            </Empty>
          }
        />
      )}
      {asked && <Revoke realm={realm} userId={user.id} consent={asked} onClose={() => setAsked(undefined)} />}
    </Panel>
  );
}

function Revoke({
  realm,
  userId,
  consent: { clientId, clientName },
  onClose,
}: {
  realm: string;
  userId: string;
  consent: Consent;
  onClose: () => void;
}) {
  const name = clientName ?? clientId;
  return (
    <ConfirmWrite
      title={`Take back the consent for ${name}?`}
      action="Take back"
      route={revokeUserConsent}
      input={{ params: { realm, userId, clientId } }}
      done={`Took back the consent for ${name}.`}
      onClose={onClose}
    >
      <p>The tokens that the application has for the user end, and the next sign-in asks the user again.</p>
    </ConfirmWrite>
  );
}
