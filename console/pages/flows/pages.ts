// Sign-in flows: the list and the form of every kind, and an editor of a flow's steps.
import { pagesWith } from '../../kinds/pages.tsx';
import type { ConsolePage } from '../page.ts';

const load: ConsolePage['load'] = () => import('./flow.tsx');
export const flowPages: readonly ConsolePage[] = pagesWith('flows', { detail: load, edit: load });
