// The authorization services of one client: settings, resources, scopes, policies with an evaluation beside them, permissions.
import { lazy, Suspense, useState } from 'react';
import { Link } from 'wouter';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getAuthorizationService } from '../../generated/routes.ts';
import { kindInSection } from '../../kinds/all.ts';
import { curlOf, documentCommand, realmManifest } from '../../kinds/commands.ts';
import { useLock } from '../../kinds/declared-only.tsx';
import { ManagedBadge, managedOf, useHolds } from '../../kinds/managed.tsx';
import { HeldBadge, HeldNote } from '../../kinds/managed-ways.tsx';
import { inRealm, realmAddress } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { IconButton } from '../../ui/button.tsx';
import { ActionMenu } from '../../ui/menu.tsx';
import { Page } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import type { PageProps } from '../page.ts';
import { Evaluate } from './evaluate.tsx';
import { Items } from './items.tsx';
import { itemKinds, type ListName } from './model.ts';
import { ServiceSettings } from './settings.tsx';

const Delete = lazy(() => import('../../kinds/delete.tsx'));
const lists: readonly { list: ListName; label: string }[] = [
  { list: 'policies', label: 'Policies' },
  { list: 'permissions', label: 'Permissions' },
  { list: 'resources', label: 'Resources' },
  { list: 'scopes', label: 'Scopes' },
];

export default function ServicePage({ params: { realm, key = '' } }: PageProps) {
  const may = useMay();
  const read = useRead(getAuthorizationService, {
    params: { realm, clientId: key },
    query: { with: 'managedBy' },
  });
  const [deletes, setDeletes] = useState(false);
  const service = read.data?.body;
  const entry = kindInSection('authorizationServices');
  const thing = { kind: 'authorizationService', key: service?.clientId ?? '' };
  const lock = useLock(realm, 'authorizationServices', thing);
  const isWriter = may(realm, 'clients:write') && !lock.isLocked;
  const title = service?.clientId ?? '…';
  const declared = () => {
    if (!service) return {};
    const { clientId, settings, resources, scopes, policies, permissions } = service;
    return { authorizationServices: [{ clientId, settings, resources, scopes, policies, permissions }] };
  };
  const managed = { managed: managedOf(service), realm, thing: entry && { ...thing, write: entry.write } };
  const hold = useHolds(realm, managed.managed !== undefined, true)(thing);
  const isEmpty = service && lists.every(({ list }) => service[list].length === 0);
  return (
    <Page
      title={title}
      documentTitle={`${title} – Authorization services – ${realm}`}
      lead={
        service && (
          <>
            What the client <Link href={inRealm(realm, 'clients', key)}>{service.clientId}</Link> protects, and for
            which users and clients.
          </>
        )
      }
      crumbs={[
        { label: realm, to: realmAddress(realm) },
        { label: 'Authorization services', to: inRealm(realm, 'authorization-services') },
      ]}
      badges={
        service && (
          <>
            <Badge tone={service.settings.enforcement === 'enforcing' ? 'good' : 'warn'}>
              {service.settings.enforcement}
            </Badge>
            <ManagedBadge {...managed} />
            {hold && <HeldBadge hold={hold} />}
          </>
        )
      }
      actions={
        service && (
          <>
            <AsCommand
              commands={async () => ({
                realmctl: documentCommand(realm, declared()),
                curl: curlOf(getAuthorizationService, { realm, clientId: key }),
                manifest: await realmManifest(realm, declared()),
              })}
            />
            {isWriter && !isEmpty && (
              <ActionMenu
                label="More actions"
                actions={[
                  {
                    id: 'delete',
                    label: 'Delete the authorization services',
                    icon: 'delete',
                    danger: true,
                    onAction: () => setDeletes(true),
                  },
                ]}
              >
                <IconButton label="More actions" icon="more" variant="quiet" />
              </ActionMenu>
            )}
          </>
        )
      }
    >
      {read.error && <ProblemNote problem={read.error} retry={() => void read.refetch()} />}
      {!service ? (
        !read.error && <Loading lines={8} />
      ) : (
        <>
          {hold && !lock.isDeclaredOnly && (
            <HeldNote hold={hold} realm={realm} isManaged={managed.managed !== undefined} />
          )}
          {isEmpty && (
            <Note>
              Nothing is declared yet. Begin with resources and scopes, then add policies and the permissions that join
              them.
            </Note>
          )}
          <Tabs
            label={service.clientId}
            tabs={[
              ...lists.map(({ list, label }) => ({
                id: list,
                label: `${label} (${service[list].length})`,
                content: () => {
                  const items = (
                    <Items
                      key={list}
                      realm={realm}
                      id={key}
                      service={service}
                      kind={itemKinds[list]}
                      isWriter={isWriter}
                    />
                  );
                  return isWriter && (list === 'policies' || list === 'permissions') ? (
                    <div className="flow-split steps-first">
                      {items}
                      <Evaluate realm={realm} id={key} service={service} />
                    </div>
                  ) : (
                    items
                  );
                },
              })),
              {
                id: 'settings',
                label: 'Settings',
                content: () => <ServiceSettings realm={realm} id={key} service={service} isWriter={isWriter} />,
              },
            ]}
          />
        </>
      )}
      {deletes && service && entry && (
        <Suspense>
          <Delete
            entry={{ ...entry, at: 'clientId' }}
            address={{ realm, key }}
            row={{ clientId: service.clientId }}
            etag={read.data?.etag}
            onClose={() => setDeletes(false)}
          />
        </Suspense>
      )}
    </Page>
  );
}
