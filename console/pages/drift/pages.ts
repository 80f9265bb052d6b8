// Declarations that are kept elsewhere: managers, drift, holds, the history of applied plans, comparison; of a realm and of all realms.
import type { ConsolePage } from '../page.ts';

export const driftPages: readonly ConsolePage[] = [
  {
    path: '/declared',
    title: 'Declared and history',
    nav: { group: 'Realm', icon: 'history', order: 3 },
    load: () => import('./all-realms.tsx'),
  },
  {
    path: '/realms/:realm/declared',
    title: 'Declared and history',
    permission: ['managers:read', 'realm:read', 'holds:read'],
    nav: { group: 'Administration', icon: 'history', order: 15 },
    load: () => import('./realm.tsx'),
  },
  {
    path: '/realms/:realm/declared/history/:revision',
    title: 'Applied plan',
    permission: 'realm:read',
    load: () => import('./applied-plan.tsx'),
  },
];
