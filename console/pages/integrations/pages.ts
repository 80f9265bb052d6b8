// The pages of webhooks and of message gateways, by which the realm sends to other systems, with a test on the page of each.
import { pagesWith } from '../../kinds/pages.tsx';
import type { ConsolePage } from '../page.ts';

export const integrationPages: readonly ConsolePage[] = [
  ...pagesWith('webhooks', { detail: () => import('./webhook.tsx') }),
  ...pagesWith('messagingProviders', { detail: () => import('./messaging-provider.tsx') }),
];
