// Groups: the forms of every kind, the list as a tree, and a page with members and roles.
import { pagesWith } from '../../kinds/pages.tsx';
import type { ConsolePage } from '../page.ts';

export const groupPages: readonly ConsolePage[] = pagesWith('groups', {
  list: () => import('./groups.tsx'),
  detail: () => import('./group.tsx'),
});
