// Agents: the forms of every kind, a list with the agents in review, and a page with the steps of an agent's life.
import { pagesWith } from '../../kinds/pages.tsx';
import type { ConsolePage } from '../page.ts';

export const agentPages: readonly ConsolePage[] = pagesWith('agents', {
  list: () => import('./agents.tsx'),
  detail: () => import('./agent.tsx'),
});
