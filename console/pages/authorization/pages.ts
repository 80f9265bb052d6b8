// Authorization services: the clients that have them, and a page for the services of one client.
import { pagesWith } from '../../kinds/pages.tsx';
import type { ConsolePage } from '../page.ts';

export const authorizationPages: readonly ConsolePage[] = pagesWith('authorizationServices', {
  list: () => import('./services.tsx'),
  detail: () => import('./service.tsx'),
});
