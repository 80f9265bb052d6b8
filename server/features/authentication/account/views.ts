// The views of the account page: each has an address and a place in the page's navigation.
import type { RequiredAction } from '../../../contract/required-actions.ts';
import { type Html, html } from '../../../http/html.ts';
import { type PlainKey, plainText, text } from '../../../http/texts.ts';

export const accountViews = ['profile', 'security', 'devices', 'applications', 'data', 'activity'] as const;
export type AccountViewName = (typeof accountViews)[number];

const names: Record<AccountViewName, PlainKey> = {
  profile: 'account.profile',
  security: 'account.security',
  devices: 'account.devices',
  applications: 'account.access',
  data: 'account.data',
  activity: 'account.activity',
};
export const nameOfView = (view: AccountViewName): string => plainText(names[view]);

export const accountPath = (realm: string, view: AccountViewName = 'profile'): string =>
  `/realms/${realm}/account${view === 'profile' ? '' : `?view=${view}`}`;

/** The view that shows the effect of an action, by the first part of the action's path. */
const viewsOfActions: Readonly<Record<string, AccountViewName>> = {
  credentials: 'security',
  identities: 'security',
  phone: 'security',
  browsers: 'devices',
  agents: 'applications',
  export: 'data',
  erase: 'data',
};

/** @param url of the action's route: `/realms/:realm/account/browsers/:id/forget` */
export const viewOfAction = (url: string | undefined): AccountViewName =>
  viewsOfActions[/\/account\/([^/]+)/.exec(url ?? '')?.[1] ?? ''] ?? 'profile';

/** Steps of a sign-in that change the user's profile; the others change how the user signs in. */
const profileSteps: readonly RequiredAction[] = ['UPDATE_PROFILE', 'VERIFY_EMAIL', 'TERMS'];
export const viewOfStep = (step: RequiredAction): AccountViewName =>
  profileSteps.includes(step) ? 'profile' : 'security';

/** The name of what a step of a sign-in did, among the outcomes that the page reports (routes.ts). */
export const outcomeOfStep = (step: RequiredAction): 'passwordSaved' | 'added' | 'changed' => {
  if (step === 'UPDATE_PASSWORD') return 'passwordSaved';
  return step.startsWith('CONFIGURE_') ? 'added' : 'changed';
};

/** @param below further content under the links */
export const navigation = (
  realm: string,
  { current, views, below }: { current: AccountViewName; views: readonly AccountViewName[]; below: Html },
): Html => html`<nav class="views" aria-label="${text('account.navigation')}">
<ul>
${views.map((view) => html`<li><a href="${accountPath(realm, view)}"${view === current && html` aria-current="page"`}>${nameOfView(view)}</a></li>\n`)}</ul>
${below}
</nav>`;
