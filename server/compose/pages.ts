// The composition root's part for pages: signing in, registration, forgotten passwords, and the account page. It
// decides nothing. Design "Composition root".
import type { FastifyInstance } from 'fastify';
import { createRateLimit } from '../domain/rate-limit.ts';
import { createIdentitySection } from '../features/authentication/account/identities.ts';
import { createMayHavePassword } from '../features/authentication/account/own-password.ts';
import { createPhoneSection } from '../features/authentication/account/phone.ts';
import { accountRoutes } from '../features/authentication/account/routes.ts';
import { brokeringRoutes } from '../features/authentication/brokering/routes.ts';
import { enrolmentLinkPages } from '../features/authentication/enrolment-links/routes.ts';
import { impersonationPages } from '../features/authentication/impersonation/routes.ts';
import { invitationPages } from '../features/authentication/invitations/page-routes.ts';
import { newDeviceRoutes } from '../features/authentication/new-device/routes.ts';
import { recoveryRoutes } from '../features/authentication/recovery/routes.ts';
import { askedAgain } from '../features/authentication/sign-in/continuation.ts';
import { signInRoutes } from '../features/authentication/sign-in/routes.ts';
import { adminArrival } from '../features/operations/admin-access/arrival.ts';
import { ownAccountPage } from '../features/operations/admin-access/own-account.ts';
import { appPageRoutes } from '../features/people/devices/app-page.ts';
import { createSharingSection } from '../features/protocol/uma/account-section.ts';
import { mountPageAssets, pageErrors } from '../http/pages.ts';
import { languageRoute, speaksTo } from '../http/spoken.ts';
import { REGISTRATIONS_A_MINUTE } from './authentication.ts';
import type { Operations } from './operations.ts';
import { offersRecovery, pageLinks } from './page-links.ts';

/**
 * The most requests of waiting pages from one address: enough for an office, with a request per page every three
 * seconds.
 */
const LOOKS_A_MINUTE = 1200;
/** The most links for forgotten passwords that one address may request. */
const RECOVERIES_A_MINUTE = 10;

export function mountPages(pages: FastifyInstance, all: Operations): void {
  const { settings, registry, continuations, singleLogout, federation, now } = all;
  pages.setErrorHandler(pageErrors(settings.of));
  // Applies to redirects too: after a sign-out, the browser's "back" would use a cached redirect, and loop.
  pages.addHook('onRequest', (_, reply, done) => {
    void reply.header('cache-control', 'no-store');
    done();
  });
  speaksTo(pages, all);
  languageRoute(pages, all);
  mountPageAssets(pages, { brandOf: settings.of });

  const recovers = offersRecovery(all);
  const signInFor = (realm: string, asked: string | undefined): string =>
    (asked === undefined ? undefined : askedAgain(continuations, realm, asked)) ?? `/realms/${realm}/login?for=account`;
  const links = pageLinks(all);
  signInRoutes(pages, { ...all, registry, links, looks: createRateLimit({ limit: LOOKS_A_MINUTE, now }) });
  all.mountLogout(pages, singleLogout);
  brokeringRoutes(pages, { ...all, saml: all.upstreams.saml });
  appPageRoutes(pages, all);
  const recoveries = createRateLimit({ limit: RECOVERIES_A_MINUTE, now });
  recoveryRoutes(pages, { ...all, offered: recovers, signInFor, attempts: recoveries });
  enrolmentLinkPages(pages, { ...all, links: all.enrolmentLinks });
  newDeviceRoutes(pages, { ...all, recovers });
  invitationPages(pages, { ...all, attempts: createRateLimit({ limit: REGISTRATIONS_A_MINUTE, now }) });
  impersonationPages(pages, all);
  accountRoutes(pages, {
    ...all,
    mayHavePassword: createMayHavePassword({ ...all, elsewhere: federation.source }),
    sections: [createIdentitySection(all), createPhoneSection(all), createSharingSection(all.sharing)],
  });
  adminArrival(pages, { ...all, signIn: all.adminSignIn });
  ownAccountPage(pages, all);
}
