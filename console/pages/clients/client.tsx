// A client: its fields and all that belongs to it, a new secret, and the security profile that it is held to.
import { useState } from 'react';
import { useMay } from '../../api/session.ts';
import { kindInSection } from '../../kinds/all.ts';
import { KindDetail } from '../../kinds/detail.tsx';
import type { Row } from '../../kinds/entry.ts';
import { Button } from '../../ui/button.tsx';
import type { PageProps } from '../page.ts';
import { NewSecret } from './new-secret.tsx';
import { type Held, heldTo, LacksNote, ProfileBadge, ProfileTab } from './profile.tsx';

/** Other clients prove themselves by a key, or not at all. */
const usesSecret = ({ tokenEndpointAuthMethod: method }: Row): boolean =>
  typeof method === 'string' && method.startsWith('client_secret');

const ofHeld = <T,>(row: Row, make: (held: Held) => T): T | undefined => {
  const held = heldTo(row);
  return held && make(held);
};

export default function ClientPage({ params }: PageProps) {
  const { realm } = params;
  const may = useMay();
  const entry = kindInSection('clients');
  const [asked, setAsked] = useState<Row>();
  if (!entry) return null;
  const mayWrite = may.partly(realm, 'clients:write');
  return (
    <>
      <KindDetail
        entry={entry}
        params={params}
        extras={{
          badges: (row) => ofHeld(row, (held) => <ProfileBadge held={held} />),
          lead: (row) => ofHeld(row, (held) => <LacksNote held={held} />),
          tabs: (row) =>
            ofHeld(row, (held) => [
              { id: 'profile', label: 'Security profile', content: () => <ProfileTab row={row} held={held} /> },
            ]) ?? [],
          actions: (row) => mayWrite && usesSecret(row) && <Button onPress={() => setAsked(row)}>New secret…</Button>,
        }}
      />
      {asked && <NewSecret realm={realm} client={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}
