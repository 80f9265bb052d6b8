// The folders of pages. A page here replaces the generic page of a kind at the same address.
import { kindPages } from '../kinds/pages.tsx';
import { adminRolePages } from './admin-roles/pages.ts';
import { agentPages } from './agents/pages.ts';
import { auditPages } from './audit/pages.ts';
import { authorizationPages } from './authorization/pages.ts';
import { brokeringPages } from './brokering/pages.ts';
import { clientPages } from './clients/pages.ts';
import { driftPages } from './drift/pages.ts';
import { flowPages } from './flows/pages.ts';
import { groupPages } from './groups/pages.ts';
import { integrationPages } from './integrations/pages.ts';
import { lookPages } from './look/pages.ts';
import { operationsPages } from './operations/pages.ts';
import { organizationPages } from './organizations/pages.ts';
import { overviewPages } from './overview/pages.ts';
import type { ConsolePage } from './page.ts';
import { settingsPages } from './settings/pages.ts';
import { tokenPreviewPages } from './token-preview/pages.ts';
import { userPages } from './users/pages.ts';
import { wizardPages } from './wizards/pages.ts';

const ownPages: readonly ConsolePage[] = [
  ...overviewPages,
  ...userPages,
  ...groupPages,
  ...organizationPages,
  ...agentPages,
  ...adminRolePages,
  ...flowPages,
  ...authorizationPages,
  ...tokenPreviewPages,
  ...clientPages,
  ...brokeringPages,
  ...integrationPages,
  ...wizardPages,
  ...lookPages,
  ...driftPages,
  ...auditPages,
  ...operationsPages,
  ...settingsPages,
];
const replaced = new Set(ownPages.map(({ path }) => path));

export const allPages: readonly ConsolePage[] = [...ownPages, ...kindPages.filter(({ path }) => !replaced.has(path))];
