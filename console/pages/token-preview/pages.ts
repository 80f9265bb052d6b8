// The tokens that a client would get: from the client's page, and from a user's.
import type { ConsolePage } from '../page.ts';

const seen = { title: 'Token preview', permission: 'clients:read', partly: true } as const;

export const tokenPreviewPages: readonly ConsolePage[] = [
  { ...seen, path: '/realms/:realm/clients/:clientId/token-preview', load: () => import('./preview.tsx') },
  { ...seen, path: '/realms/:realm/users/:userId/token-preview', load: () => import('./preview.tsx') },
];
