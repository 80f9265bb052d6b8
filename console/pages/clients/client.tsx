// A client: its fields and all that belongs to it, a new secret, and the security profile that it is held to.
import { useState } from 'react';
import { usesSecret } from '../../../server/contract/client-authentication.ts';
import { useMay } from '../../api/session.ts';
import { detailWith } from '../../kinds/detail.tsx';
import type { Row } from '../../kinds/entry.ts';
import { objectAddress } from '../../kinds/pages.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { NewSecret } from './new-secret.tsx';
import { type Held, heldTo, LacksNote, ProfileBadge, ProfileTab } from './profile.tsx';

const ofHeld = <T,>(row: Row, make: (held: Held) => T): T | undefined => {
  const held = heldTo(row);
  return held && make(held);
};

export default detailWith('clients', ({ realm, entry }) => {
  const mayWrite = useMay().partly(realm, 'clients:write');
  return {
    badges: (row) => ofHeld(row, (held) => <ProfileBadge held={held} />),
    lead: (row) => ofHeld(row, (held) => <LacksNote held={held} />),
    tabs: (row) =>
      ofHeld(row, (held) => [
        { id: 'profile', label: 'Security profile', content: () => <ProfileTab row={row} held={held} /> },
      ]) ?? [],
    actions: (row) => (
      <>
        <ButtonLink to={`${objectAddress(realm, entry, row)}/token-preview`}>Preview tokens</ButtonLink>
        {mayWrite && usesSecret(row.tokenEndpointAuthMethod) && <AskSecret realm={realm} client={row} />}
      </>
    ),
  };
});

function AskSecret({ realm, client }: { realm: string; client: Row }) {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button onPress={() => setAsked(true)}>New secret…</Button>
      {isAsked && <NewSecret realm={realm} client={client} onClose={() => setAsked(false)} />}
    </>
  );
}
