// A client: its fields and all that belongs to it, and a new secret.
import { useState } from 'react';
import { useMay } from '../../api/session.ts';
import { kindInSection } from '../../kinds/all.ts';
import { KindDetail } from '../../kinds/detail.tsx';
import type { Row } from '../../kinds/entry.ts';
import { Button } from '../../ui/button.tsx';
import type { PageProps } from '../page.ts';
import { NewSecret } from './new-secret.tsx';

/** Other clients prove themselves by a key, or not at all. */
const usesSecret = ({ tokenEndpointAuthMethod: method }: Row): boolean =>
  typeof method === 'string' && method.startsWith('client_secret');

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
          actions: (row) => mayWrite && usesSecret(row) && <Button onPress={() => setAsked(row)}>New secret…</Button>,
        }}
      />
      {asked && <NewSecret realm={realm} client={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}
