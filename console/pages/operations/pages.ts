// The server's own work for a realm, and the things that need an administrator: deliveries, syncs, keys, ends, health.
import type { ConsolePage } from '../page.ts';

export const operationsPages: readonly ConsolePage[] = [
  {
    path: '/realms/:realm/operations',
    title: 'Operations',
    permission: [
      'realm:read',
      'webhooks:read',
      'messaging:read',
      'scim-targets:read',
      'user-federation:read',
      'events:read',
    ],
    nav: { group: 'Administration', icon: 'plug', order: 30 },
    load: () => import('./operations.tsx'),
  },
  {
    path: '/realms/:realm/keys',
    title: 'Keys',
    permission: 'keys:read',
    nav: { group: 'Administration', icon: 'key', order: 40 },
    load: () => import('./keys.tsx'),
  },
  {
    path: '/realms/:realm/attention',
    title: 'Expiring and unused',
    permission: ['clients:read', 'keys:read', 'saml-clients:read', 'users:read', 'agents:read'],
    nav: { group: 'Administration', icon: 'alert', order: 50 },
    load: () => import('./attention.tsx'),
  },
  {
    path: '/server',
    title: 'Server',
    permission: ['realm:read', 'events:read'],
    everyRealm: true,
    nav: { group: 'Administration', icon: 'settings', order: 10 },
    load: () => import('./server.tsx'),
  },
];
