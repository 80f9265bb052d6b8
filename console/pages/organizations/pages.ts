// Organizations: the list and the forms of every kind, and a page with members, domains and invitations.
import { pagesWith } from '../../kinds/pages.tsx';
import type { ConsolePage } from '../page.ts';

export const organizationPages: readonly ConsolePage[] = pagesWith('organizations', {
  detail: () => import('./organization.tsx'),
});
