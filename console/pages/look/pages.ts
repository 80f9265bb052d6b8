// How the realm looks and what it says: its pages, their texts, its messages.
import type { ConsolePage } from '../page.ts';

export const lookPages: readonly ConsolePage[] = [
  {
    path: '/realms/:realm/look',
    title: 'Look and texts',
    permission: ['settings:read', 'message-texts:read', 'messaging:read'],
    nav: { group: 'Messages and texts', icon: 'edit', order: 5 },
    load: () => import('./branding.tsx'),
  },
  {
    path: '/realms/:realm/look/texts',
    title: 'Texts of the pages',
    permission: 'message-texts:read',
    load: () => import('./texts.tsx'),
  },
  {
    path: '/realms/:realm/look/messages',
    title: 'Messages',
    permission: 'messaging:read',
    load: () => import('./templates.tsx'),
  },
  {
    path: '/realms/:realm/look/messages/:templateKey',
    title: 'Message',
    permission: 'messaging:read',
    load: () => import('./template.tsx'),
  },
];
