// Where users of other systems come from: identity providers and directories, with a test on the page of each.
import { pagesWith } from '../../kinds/pages.tsx';
import type { ConsolePage } from '../page.ts';

export const brokeringPages: readonly ConsolePage[] = [
  ...pagesWith('identityProviders', { detail: () => import('./identity-provider.tsx') }),
  ...pagesWith('userFederation', { detail: () => import('./directory.tsx') }),
];
