// A realm's first page: how much of each thing it has, its statistics, what happened lately, its addresses.
import { lazy, Suspense } from 'react';
import { Link } from 'wouter';
import type { OutputOf } from '../../api/client.ts';
import type { LightRoute } from '../../api/light.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import * as api from '../../generated/routes.ts';
import { curlOf, realmManifest } from '../../kinds/commands.ts';
import { word } from '../../kinds/shell-words.ts';
import { inRealm } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { CopyButton } from '../../ui/code.tsx';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { Facts, Page, Panel } from '../../ui/page.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import type { PageProps } from '../page.ts';

/** A list tells how many rows it has if they fit on a page of this many. */
const COUNTED = 100;
const EVENTS = 8;
const Dashboard = lazy(() => import('./dashboard.tsx'));

const counted = [
  { route: api.listUsers, thing: 'users', path: 'users', label: 'Users', icon: 'user' },
  { route: api.listGroups, thing: 'groups', path: 'groups', label: 'Groups', icon: 'group' },
  { route: api.listClients, thing: 'clients', path: 'clients', label: 'Clients', icon: 'client' },
  {
    route: api.listIdentityProviders,
    thing: 'identityProviders',
    path: 'identity-providers',
    label: 'Identity providers',
    icon: 'idp',
  },
  { route: api.listOrganizations, thing: 'organizations', path: 'organizations', label: 'Organizations', icon: 'org' },
  { route: api.listWebhooks, thing: 'webhooks', path: 'webhooks', label: 'Webhooks', icon: 'webhook' },
] as const satisfies readonly {
  route: LightRoute;
  thing: OutputOf<typeof api.getCounts>[number]['thing'];
  path: string;
  label: string;
  icon: IconName;
}[];

type Counted = { realm: string } & (typeof counted)[number];

/** Of all that the realm has. */
function Count({ realm, thing, ...card }: Counted) {
  const { data, error } = useRead(api.getCounts, { params: { realm } });
  const found = data?.body?.find((one) => one.thing === thing);
  const words = found && `${found.estimated ? '≈ ' : ''}${found.count.toLocaleString('en')}`;
  return <CountCard realm={realm} {...card} words={error ? '–' : (words ?? '…')} />;
}

/** Of those that the reader's limited admin roles show. */
function CountOfSome({ realm, route, ...card }: Counted) {
  const { data, error } = useRead<LightRoute>(route, { params: { realm }, query: { limit: COUNTED } });
  const rows = Array.isArray(data?.body) ? data.body.length : 0;
  const words = error ? '–' : !data ? '…' : rows >= COUNTED ? `${COUNTED}+` : String(rows);
  return <CountCard realm={realm} {...card} words={words} />;
}

function CountCard({
  realm,
  path,
  label,
  icon,
  words,
}: Pick<Counted, 'realm' | 'path' | 'label' | 'icon'> & { words: string }) {
  return (
    <Link href={inRealm(realm, path)} className="card-link">
      <span className="count">{words}</span>
      <span className="what">
        <Icon name={icon} />
        {label}
      </span>
    </Link>
  );
}

export default function Realm({ params: { realm } }: PageProps) {
  const may = useMay();
  const mayRead = may(realm, 'realm:read');
  const about = useRead(api.getRealm, { params: { realm } }, { enabled: mayRead });
  const shown = counted.filter(({ route }) => may.partly(realm, route.permission));
  const displayName = about.data?.body?.displayName;
  return (
    <Page
      title={realm}
      documentTitle={`Overview – ${realm}`}
      {...(displayName !== undefined && displayName !== realm && { lead: <bdi>{displayName}</bdi> })}
      crumbs={[{ label: 'Realms', to: '/realms' }]}
      actions={
        <AsCommand
          commands={async () => ({
            realmctl: `realmctl export ${word(realm)}`,
            curl: curlOf(api.getRealm, { realm }),
            manifest: await realmManifest(realm, displayName === undefined ? {} : { settings: { displayName } }),
          })}
        />
      }
    >
      {about.error && <ProblemNote problem={about.error} retry={() => void about.refetch()} />}
      {shown.length > 0 ? (
        <div className="cards">
          {shown.map((one) =>
            may(realm, one.route.permission) ? (
              <Count key={one.path} realm={realm} {...one} />
            ) : (
              <CountOfSome key={one.path} realm={realm} {...one} />
            ),
          )}
        </div>
      ) : (
        <Panel>
          <Empty icon="key" title="Your admin roles show nothing of this realm">
            <p>Ask an administrator of the realm for an admin role.</p>
          </Empty>
        </Panel>
      )}
      {may(realm, 'events:read') && (
        <Suspense fallback={<Loading lines={8} />}>
          <Dashboard realm={realm} />
        </Suspense>
      )}
      {may(realm, 'events:read') && <Lately realm={realm} />}
      {mayRead && <Addresses realm={realm} />}
    </Page>
  );
}

function Lately({ realm }: { realm: string }) {
  const events = useRead(api.listEvents, { params: { realm }, query: { limit: EVENTS } });
  const rows = events.data?.body ?? [];
  return (
    <Panel title="Lately" plain actions={<Link href={inRealm(realm, 'events')}>All events</Link>}>
      {events.error && <ProblemNote problem={events.error} />}
      {!events.data && !events.error && <Loading lines={5} />}
      {events.data && rows.length === 0 && (
        <Empty icon="events" title="Nothing has happened yet">
          <p>Sign-ins and changes are listed here.</p>
        </Empty>
      )}
      <ul className="events">
        {rows.map(({ id, occurredAt: at, type, outcome, actor, subject }) => (
          <li key={id}>
            <Time ms={at} />
            <span>
              <code>{type}</code>
              <span className="who">
                {actor?.name && (
                  <>
                    {' by '}
                    <bdi>{actor.name}</bdi>
                  </>
                )}
                {subject?.name && (
                  <>
                    {': '}
                    <bdi>{subject.name}</bdi>
                  </>
                )}
              </span>
            </span>
            <Badge tone={outcome === 'success' ? 'good' : 'bad'}>{outcome}</Badge>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const addresses = [
  ['discovery', 'Discovery'],
  ['issuer', 'Issuer'],
  ['authorization', 'Authorization'],
  ['token', 'Token'],
  ['account', 'Account page'],
  ['samlMetadata', 'SAML metadata'],
  ['scim', 'SCIM'],
] as const;

function Addresses({ realm }: { realm: string }) {
  const endpoints = useRead(api.getEndpoints, { params: { realm } });
  const found = endpoints.data?.body;
  return (
    <Panel title="Addresses" plain>
      {endpoints.error && <ProblemNote problem={endpoints.error} />}
      {found ? (
        <Facts
          facts={addresses.map(([name, label]) => ({
            name: label,
            value: (
              <span className="row">
                <code>{found[name]}</code>
                <CopyButton text={found[name]} label={`Copy: ${label}`} />
              </span>
            ),
          }))}
        />
      ) : (
        !endpoints.error && <Loading lines={4} />
      )}
    </Panel>
  );
}
