// Where a flow is in use: the realm itself, and the applications, clients and identity providers that name it.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getSettings, putSettings } from '../../generated/routes.ts';
import { kindInSection } from '../../kinds/all.ts';
import { curlOf, documentCommand, realmManifest } from '../../kinds/commands.ts';
import { type Dependent, dependentsOf, LOOKED_AT } from '../../kinds/delete.tsx';
import { nameOf, objectAddress } from '../../kinds/pages.tsx';
import { Review } from '../../kinds/review.tsx';
import { inSentence, labelOf } from '../../kinds/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/page.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { say } from '../../ui/toast.tsx';

export function useBinding(realm: string, alias: string) {
  const may = useMay();
  const mayRead = may(realm, 'settings:read');
  const settings = useRead(getSettings, { params: { realm } }, { enabled: mayRead });
  return { settings, mayRead, isBound: settings.data?.body?.browserFlow === alias };
}

export function BindingBadge({ realm, alias }: { realm: string; alias: string }) {
  const { isBound } = useBinding(realm, alias);
  return isBound ? <Badge tone="good">signs the realm in</Badge> : null;
}

const fieldWords: Readonly<Record<string, string>> = {
  flowOverride: 'instead of the realm’s flow',
  firstLoginFlow: 'for first sign-ins with this provider',
};

export function UsedBy({ realm, alias }: { realm: string; alias: string }) {
  const may = useMay();
  const { settings, mayRead, isBound } = useBinding(realm, alias);
  const [binds, setBinds] = useState(false);
  const bind = useWrite(putSettings);
  const entry = kindInSection('flows');
  const users = useQuery({
    queryKey: [realm, 'dependents', 'flows', alias],
    queryFn: () => (entry ? dependentsOf(entry, alias, realm, (one) => may(realm, one.read)) : []),
  });
  const etag = settings.data?.etag;
  const change = { browserFlow: alias };
  return (
    <div className="stack">
      {mayRead && (
        <Panel
          title="The realm"
          actions={
            settings.data?.body && !isBound && may(realm, 'settings:write') ? (
              <Button onPress={() => setBinds(true)}>Sign the realm in with this flow</Button>
            ) : undefined
          }
        >
          {settings.error ? (
            <ProblemNote problem={settings.error} />
          ) : !settings.data?.body ? (
            <Loading lines={1} />
          ) : isBound ? (
            <p>The realm signs its users in with this flow, wherever an application names no other one.</p>
          ) : (
            <p>
              The realm signs its users in with{' '}
              <Link href={objectAddressOfFlow(realm, settings.data.body.browserFlow)}>
                <bdi>{settings.data.body.browserFlow}</bdi>
              </Link>
              .
            </p>
          )}
        </Panel>
      )}
      <Panel title="Named by" lead="Applications and providers that ask for this flow" plain>
        {users.error ? (
          <ProblemNote problem={users.error} retry={() => void users.refetch()} />
        ) : !users.data ? (
          <Loading lines={3} />
        ) : users.data.length === 0 ? (
          <Empty icon="flow" title="No application names this flow">
            <p>
              An application signs in with another flow than the realm where its field “Flow instead of the realm’s”
              names one.
            </p>
          </Empty>
        ) : (
          <Table<Dependent>
            label="Objects that name the flow"
            rows={users.data}
            idOf={({ entry: { section }, row }) => `${section} ${String(row.id ?? row.alias ?? row.name)}`}
            to={(one) => objectAddress(realm, one.entry, one.row)}
            columns={[
              { id: 'name', head: 'name', cell: (one) => <bdi>{nameOf(one.entry, one.row)}</bdi> },
              { id: 'kind', head: 'kind', cell: (one) => one.entry.label },
              {
                id: 'for',
                head: 'uses it',
                cell: (one) => one.fields.map((field) => fieldWords[field] ?? inSentence(labelOf(field))).join(', '),
              },
            ]}
          />
        )}
      </Panel>
      <p className="hint">Of each kind, the first {LOOKED_AT.toLocaleString('en')} objects are looked at.</p>
      {binds && (
        <Review
          title="Sign the realm in with this flow"
          realm={realm}
          document={{ realm: change }}
          changes={change}
          before={{ browserFlow: settings.data?.body?.browserFlow }}
          save="Bind the flow"
          onSave={() =>
            bind.mutate(
              { params: { realm }, body: change, ...(etag !== undefined && { headers: { 'if-match': etag } }) },
              {
                onSuccess: () => {
                  setBinds(false);
                  say(`The realm signs in with ${alias}.`);
                },
              },
            )
          }
          onClose={() => setBinds(false)}
          isSaving={bind.isPending}
          problem={bind.error}
          commands={async () => ({
            realmctl: documentCommand(realm, { realm: change }),
            curl: curlOf(putSettings, { realm }, change),
            manifest: await realmManifest(realm, { settings: change }),
          })}
        />
      )}
    </div>
  );
}

function objectAddressOfFlow(realm: string, alias: string): string {
  const entry = kindInSection('flows');
  return entry ? objectAddress(realm, entry, { alias }) : '';
}
