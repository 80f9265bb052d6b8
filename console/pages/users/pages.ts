// The desk for users: find them, help them, end what they have; and bring many in.
import type { ConsolePage } from '../page.ts';

export const userPages: readonly ConsolePage[] = [
  {
    path: '/realms/:realm/users',
    title: 'Users',
    permission: 'users:read',
    partly: true,
    nav: { group: 'People', icon: 'user', order: 10 },
    load: () => import('./list.tsx'),
  },
  {
    path: '/realms/:realm/users/new',
    title: 'Create a user',
    permission: 'users:write',
    partly: true,
    load: () => import('./create.tsx'),
  },
  {
    path: '/realms/:realm/users/import',
    title: 'Import users',
    permission: 'users:write',
    load: () => import('./import.tsx'),
  },
  {
    path: '/realms/:realm/users/:userId',
    title: 'User',
    permission: 'users:read',
    partly: true,
    load: () => import('./user.tsx'),
  },
];
