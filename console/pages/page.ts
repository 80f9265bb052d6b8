// A page of the console as the shell knows it before its code is loaded. Each folder of pages has a file `pages.ts` that lists
// its own; pages/all.ts lists those files.
import type { ComponentType } from 'react';
import type { Permission } from '../../server/contract/permissions.ts';
import type { IconName } from '../ui/icons.tsx';

/** The parts of the address that the path names: `/realms/:realm/users/:userId`. */
export type PageParams = Readonly<Record<string, string>> & { realm: string };

export interface PageProps {
  params: PageParams;
}

/** The groups of the navigation, in their order. */
export const groups = [
  'Realm',
  'People',
  'Applications',
  'Signing in',
  'Messages and texts',
  'Integrations',
  'Administration',
  'More',
] as const;
export type Group = (typeof groups)[number];

export interface ConsolePage {
  /** Below the console's address; one below `/realms/:realm` belongs to a realm. */
  path: string;
  title: string;
  /** Needed in the realm of the address; absent: everybody signed in sees it. Of a list, any one is enough. */
  permission?: Permission | readonly Permission[];
  /** Administrators of single groups or clients see it too. */
  partly?: true;
  /** Only administrators whose permission is over every realm see it. */
  everyRealm?: true;
  /** Its place in the side navigation; absent: it is reached from other pages. */
  nav?: { group: Group; icon: IconName; order?: number };
  load(): Promise<{ default: ComponentType<PageProps> }>;
}
