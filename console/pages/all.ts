// The folders of pages. A page here comes before the generic page of a kind at the same address.
import { kindPages } from '../kinds/pages.tsx';
import { auditPages } from './audit/pages.ts';
import { driftPages } from './drift/pages.ts';
import { operationsPages } from './operations/pages.ts';
import { overviewPages } from './overview/pages.ts';
import type { ConsolePage } from './page.ts';
import { settingsPages } from './settings/pages.ts';
import { tokenPreviewPages } from './token-preview/pages.ts';
import { userPages } from './users/pages.ts';

export const allPages: readonly ConsolePage[] = [
  ...overviewPages,
  ...settingsPages,
  ...userPages,
  ...tokenPreviewPages,
  ...driftPages,
  ...auditPages,
  ...operationsPages,
  ...settingsPages,
  ...kindPages,
];
