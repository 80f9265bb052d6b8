// The first pages: all realms, a new realm, a realm's own first page.
import type { ConsolePage } from '../page.ts';

export const overviewPages: readonly ConsolePage[] = [
  { path: '/', title: 'Home', load: () => import('./home.tsx') },
  {
    path: '/realms',
    title: 'Realms',
    nav: { group: 'Realm', icon: 'realm', order: 1 },
    load: () => import('./realms.tsx'),
  },
  {
    path: '/realms/new',
    title: 'Create a realm',
    permission: 'realm:create',
    everyRealm: true,
    load: () => import('./create-realm.tsx'),
  },
  {
    path: '/first-steps',
    title: 'First steps',
    permission: 'realm:create',
    everyRealm: true,
    nav: { group: 'Realm', icon: 'check', order: 2 },
    load: () => import('./first-steps.tsx'),
  },
  {
    path: '/realms/:realm',
    title: 'Overview',
    nav: { group: 'Realm', icon: 'home', order: 1 },
    load: () => import('./realm.tsx'),
  },
];
