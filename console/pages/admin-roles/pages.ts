// Admin roles: the forms of every kind, a list beside the grants of users and clients, and a page with the permissions as a table.
import { pagesWith } from '../../kinds/pages.tsx';
import type { ConsolePage } from '../page.ts';

export const adminRolePages: readonly ConsolePage[] = pagesWith('adminRoles', {
  list: () => import('./admin-roles.tsx'),
  detail: () => import('./admin-role.tsx'),
});
