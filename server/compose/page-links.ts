// The composition root's part for the links on the pages of the sign-in. It decides nothing.
import type { RealmSettingsDto } from '../contract/settings.ts';
import { inTab } from '../features/authentication/sign-in/cookie.ts';
import type { PageLink } from '../features/authentication/sign-in/links.ts';
import type { Operations } from './operations.ts';

export const offersRecovery =
  ({ sends }: Pick<Operations, 'sends'>) =>
  async (realm: string, { passwordRecoveryEnabled }: RealmSettingsDto): Promise<boolean> =>
    passwordRecoveryEnabled && sends(realm, 'EMAIL');

const withAsked = (path: string, asked: string | undefined): string =>
  asked === undefined ? path : `${path}?${new URLSearchParams({ asked })}`;

export const pageLinks = (all: Pick<Operations, 'sends' | 'isOpen'>): PageLink[] => [
  {
    words: 'recover.forgot',
    beside: 'username-password',
    offered: offersRecovery(all),
    path: (realm, asked) => withAsked(`/realms/${realm}/login/forgot`, asked),
  },
  {
    words: 'register.way',
    offered: async (_, policy) => all.isOpen(policy),
    path: (realm, _, tab) => inTab(`/realms/${realm}/register`, tab),
  },
];
