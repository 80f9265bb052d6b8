// All cases of `npm run bench:scale`, in the order in which they run and are listed.
import { clientCases, eventCases, userCases } from './cases/lists.ts';
import { planCases } from './cases/plans.ts';
import { realmCases } from './cases/realms.ts';
import { allRealmsCases, restCases } from './cases/rest.ts';
import type { ScaleCase } from './growth.ts';

export const scaleCases: readonly ScaleCase[] = [
  ...restCases,
  ...realmCases,
  ...userCases,
  ...eventCases,
  ...clientCases,
  ...planCases,
  ...allRealmsCases,
];
