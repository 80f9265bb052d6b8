// Finds the page of the address, and shows it if the reader may see it.
import { type ComponentType, lazy, Suspense, useEffect } from 'react';
import { Link, Route, Switch } from 'wouter';
import { type May, useMay } from '../api/session.ts';
import { allPages } from '../pages/all.ts';
import type { ConsolePage, PageProps } from '../pages/page.ts';
import { Page } from '../ui/page.tsx';
import { Empty, Loading } from '../ui/state.tsx';
import { isRealmName } from './addresses.ts';
import { ErrorBoundary } from './error-boundary.tsx';
import { visitedRealm } from './kept-realms.ts';

export function maySee(may: May, { permission, partly, everyRealm }: ConsolePage, realm: string): boolean {
  const needed = permission === undefined ? [] : [permission].flat();
  if (needed.length === 0) return true;
  if (everyRealm) return needed.some((one) => may.everywhere(one));
  return needed.some((one) => (partly ? may.partly(realm, one) : may(realm, one)));
}

const loaded = new Map<ConsolePage, ComponentType<PageProps>>();
const componentOf = (page: ConsolePage): ComponentType<PageProps> => {
  const known = loaded.get(page) ?? lazy(() => page.load());
  loaded.set(page, known);
  return known;
};

function Shown({ page, params }: { page: ConsolePage; params: Record<string, string | undefined> }) {
  const may = useMay();
  const named = Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value ?? '')]),
  );
  const { realm = '' } = named;
  const isAddress = realm === '' || isRealmName(realm);
  useEffect(() => {
    if (realm !== '' && isAddress) visitedRealm(realm);
  }, [realm, isAddress]);
  if (!isAddress) return <NoSuchPage />;
  if (!maySee(may, page, realm)) return <NotPermitted page={page} realm={realm} />;
  const Component = componentOf(page);
  return (
    <ErrorBoundary key={JSON.stringify([page.path, named])}>
      <Suspense fallback={<Loading lines={6} />}>
        <Component key={realm} params={{ ...named, realm }} />
      </Suspense>
    </ErrorBoundary>
  );
}

function NotPermitted({ page: { title, permission }, realm }: { page: ConsolePage; realm: string }) {
  return (
    <Page title={title}>
      <Empty icon="key" title="Your admin roles don’t show this">
        <p>
          It needs the permission {[permission ?? []].flat().join(' or ')}
          {realm && ` in the realm ${realm}`}. Ask an administrator of the realm for an admin role that has it.
        </p>
      </Empty>
    </Page>
  );
}

function NoSuchPage() {
  return (
    <Page title="There is no such page">
      <Empty icon="help" title="This address leads nowhere" actions={<Link href="/realms">All realms</Link>}>
        <p>The object may have been renamed or deleted, or the address was cut off on its way.</p>
      </Empty>
    </Page>
  );
}

export function PageOfAddress() {
  return (
    <Switch>
      {allPages.map((page) => (
        <Route key={page.path} path={page.path}>
          {(params) => <Shown page={page} params={params} />}
        </Route>
      ))}
      <Route>
        <NoSuchPage />
      </Route>
    </Switch>
  );
}
