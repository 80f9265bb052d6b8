// A realm's settings.
import type { ConsolePage } from '../page.ts';

export const settingsPages: readonly ConsolePage[] = [
  {
    path: '/realms/:realm/settings',
    title: 'Settings',
    permission: 'settings:read',
    nav: { group: 'Realm', icon: 'settings', order: 10 },
    load: () => import('./settings.tsx'),
  },
];
