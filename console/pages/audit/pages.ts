// The audit log of a realm.
import type { ConsolePage } from '../page.ts';

export const auditPages: readonly ConsolePage[] = [
  {
    path: '/realms/:realm/events',
    title: 'Events',
    permission: 'events:read',
    nav: { group: 'Administration', icon: 'events', order: 20 },
    load: () => import('./events.tsx'),
  },
];
