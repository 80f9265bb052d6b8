// The pages that set something up step by step.
import type { ConsolePage } from '../page.ts';
import { wizards } from './wizards.ts';

export const wizardPages: readonly ConsolePage[] = [
  {
    path: '/realms/:realm/set-up',
    title: 'Set up',
    permission: wizards.flatMap(({ permissions }) => permissions),
    nav: { group: 'Realm', icon: 'add', order: 5 },
    load: () => import('./hub.tsx'),
  },
  ...wizards.map(
    ({ path, title, permissions, load }): ConsolePage => ({
      path: `/realms/:realm/set-up/${path}`,
      title,
      permission: permissions,
      load,
    }),
  ),
];
