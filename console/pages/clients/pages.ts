// Clients: the pages of every kind, and a new secret from the page of a client.
import { pagesWith } from '../../kinds/pages.tsx';
import type { ConsolePage } from '../page.ts';

export const clientPages: readonly ConsolePage[] = pagesWith('clients', { detail: () => import('./client.tsx') });
