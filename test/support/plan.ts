import type { Plan } from '../../server/contract/transfer.ts';

/** A plan that says nothing but what it is told to say. */
export const planOf = (said: Partial<Plan>): Plan => ({
  manager: 'm',
  revision: 1,
  changes: [],
  ownership: [],
  kept: [],
  held: [],
  keptSecrets: [],
  warnings: [],
  consequences: [],
  undeclared: [],
  undeclaredUsers: { count: 0, usernames: [] },
  deletions: [],
  conflicts: [],
  inSync: false,
  summary: { create: 0, update: 0, delete: 0, text: '' },
  ...said,
});
