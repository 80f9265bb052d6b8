// The clients that have authorization services, and the way to give another client some.
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useMay } from '../../api/session.ts';
import { kindInSection, leadOf } from '../../kinds/all.ts';
import { listCommands } from '../../kinds/commands.ts';
import { KindTable } from '../../kinds/list.tsx';
import { ReferenceField } from '../../kinds/reference-field.tsx';
import { inRealm, realmAddress } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Page } from '../../ui/page.tsx';
import type { PageProps } from '../page.ts';

export default function ServicesPage({ params: { realm } }: PageProps) {
  const may = useMay();
  const [chooses, setChooses] = useState(false);
  const entry = kindInSection('authorizationServices');
  if (!entry) return null;
  return (
    <Page
      title="Authorization services"
      lead={leadOf(entry)}
      crumbs={[{ label: realm, to: realmAddress(realm) }]}
      actions={
        <>
          <AsCommand commands={() => listCommands(entry, realm)} />
          {may(realm, 'clients:write') && (
            <Button variant="primary" icon="add" onPress={() => setChooses(true)}>
              Protect a client
            </Button>
          )}
        </>
      }
    >
      <KindTable entry={entry} realm={realm} />
      {chooses && <ChooseClient realm={realm} onClose={() => setChooses(false)} />}
    </Page>
  );
}

function ChooseClient({ realm, onClose }: { realm: string; onClose: () => void }) {
  const [id, setId] = useState<string | null>(null);
  const [, navigate] = useLocation();
  return (
    <Dialog
      title="Protect a client"
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            variant="primary"
            isDisabled={id === null}
            onPress={() => navigate(inRealm(realm, 'authorization-services', id ?? ''))}
          >
            Go on
          </Button>
        </>
      }
    >
      <p className="soft">
        Nothing is saved yet. On the next page you declare the client’s resources and scopes, and the policies that
        permit or deny.
      </p>
      <ReferenceField realm={realm} kind="client" label="Client" byId value={id} onChange={setId} />
    </Dialog>
  );
}
