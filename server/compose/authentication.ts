// The composition root's part for signing in: authenticators, other identity providers, flows, sessions. Its pages are in pages.ts.
// It decides nothing. Design "Composition root".
import type { RealmSettingsDto } from '../contract/settings.ts';
import { suspendAgentsSince } from '../domain/agents.ts';
import { createFactors, LEVELS } from '../domain/factors.ts';
import { removeLinksSince } from '../domain/identity-links.ts';
import { createRateLimit } from '../domain/rate-limit.ts';
import { ERASURES_A_MINUTE } from '../features/authentication/account/erase.ts';
import { createOwnIdentities } from '../features/authentication/account/own-identities.ts';
import { createForgetPhone } from '../features/authentication/account/phone.ts';
import { createWaysLeft } from '../features/authentication/account/ways-left.ts';
import { createContacts } from '../features/authentication/authenticators/contact.ts';
import { createMailedCodes } from '../features/authentication/authenticators/mailed-code.ts';
import { createPasskeyOffer } from '../features/authentication/authenticators/passkey-offer.ts';
import { createRegistry } from '../features/authentication/authenticators/registry.ts';
import { createBrokeringInSessions, createSignInByProviders } from '../features/authentication/brokering/brokers.ts';
import { createEnrolmentLinks } from '../features/authentication/enrolment-links/service.ts';
import { createInvitations } from '../features/authentication/invitations/service.ts';
import { createNewDevices } from '../features/authentication/new-device/service.ts';
import { createRecovery } from '../features/authentication/recovery/service.ts';
import { createBrowsers } from '../features/authentication/risk/browsers.ts';
import { createLocator } from '../features/authentication/risk/location.ts';
import { createRisk } from '../features/authentication/risk/service.ts';
import { createRegister } from '../features/authentication/self-registration/register.ts';
import { createNewPassword } from '../features/authentication/sign-in/new-password.ts';
import { createProfile } from '../features/authentication/sign-in/profile.ts';
import { createSignIns } from '../features/authentication/sign-in/service.ts';
import { createTerms } from '../features/authentication/sign-in/terms.ts';
import { createVerifyEmail } from '../features/authentication/sign-in/verify-email.ts';
import { createVerifyPhone } from '../features/authentication/sign-in/verify-phone.ts';
import { createCaptchas } from '../features/configuration/captchas/check.ts';
import { createFlows } from '../features/configuration/flows/service.ts';
import { createReportedCredentials } from '../features/people/credentials/reported.ts';
import { voidTransactions } from '../features/people/devices/reported.ts';
import { withdrawConsentsSince } from '../features/people/gdpr/reported.ts';
import { createSessions } from '../features/people/sessions/service.ts';
import { unconfirmSince } from '../features/people/users/own-reach.ts';
import type { People } from './people.ts';

/**
 * The most sign-ins of one address that need a row before a factor is proven. Sign-ins whose state fits into a cookie
 * need none.
 */
const UNPROVEN_A_MINUTE = 60;
/** The most registration forms that one address may send. */
export const REGISTRATIONS_A_MINUTE = 20;

export function createAuthentication(below: People) {
  const { config, accounts, credentials, choosePassword, flowTrees, warn, now } = below;
  /** Failures by address, at the pages and the admin API together. */
  const failedSignIns = createRateLimit({ now });
  const codes = createMailedCodes(below);
  const contacts = createContacts({ ...below, codes });
  const brokers = createSignInByProviders({ ...below, codes, firstSteps: flowTrees.firstSteps });
  const registry = createRegistry({ ...below, ...brokers });
  const levels = new Set(registry.map((entry) => entry.levelOfAssurance).filter((level) => level > 0));
  if ([...levels].sort().join() !== LEVELS.join())
    throw new Error(`LEVELS of domain/factors.ts: ${[...levels].sort()}`);
  const factors = createFactors(registry);
  const flows = createFlows({ ...below, trees: flowTrees, registry });
  const sessions = createSessions({ ...below, factors });
  const { upstreamLogout, mountLogout, connections } = createBrokeringInSessions({ ...below, ...brokers, sessions });
  const waysLeft = createWaysLeft({ credentials, factors });
  const browsers = createBrowsers(below);
  const risk = createRisk({ ...below, locate: createLocator(config.SVC_LOCATION_HEADERS) });
  const recovery = createRecovery({ ...below, identifies: factors.identifiedBy });
  const newDevices = createNewDevices({
    ...below,
    recovery,
    // The order in which a user's report reverts the effects of another person's sign-in. Decisions "New devices".
    distrust: [
      unconfirmSince,
      createReportedCredentials(below).distrust,
      browsers.forgetSince,
      removeLinksSince,
      withdrawConsentsSince,
      suspendAgentsSince,
      voidTransactions(below),
    ],
  });
  const isOpen = ({ registrationEnabled }: Pick<RealmSettingsDto, 'registrationEnabled'>): boolean =>
    config.USER_REGISTRATION_ENABLED && registrationEnabled;
  const register = createRegister({
    ...below,
    codes,
    captchas: createCaptchas({ ...below, log: warn }),
    attempts: createRateLimit({ limit: REGISTRATIONS_A_MINUTE, now }),
  });
  const signIns = createSignIns({
    ...below,
    flows,
    registry,
    required: [
      createNewPassword({ ...below, choosePassword }),
      createVerifyEmail({ ...below, contact: contacts.email }),
      createVerifyPhone({ ...below, contact: contacts.phone }),
      createProfile(below),
      createTerms(below),
    ],
    register: { ...register, isOpen },
    passkeyOffer: createPasskeyOffer(below),
    factors,
    sessions,
    risk,
    newDevices,
    attempts: failedSignIns,
    unproven: createRateLimit({ limit: UNPROVEN_A_MINUTE, now }),
    seal: below.signInSeal,
  });
  below.caches.push(brokers);
  return {
    ...brokers,
    registry,
    factors,
    flows,
    sessions,
    upstreamLogout,
    mountLogout,
    connections,
    contacts,
    waysLeft,
    browsers,
    risk,
    recovery,
    newDevices,
    isOpen,
    signIns,
    failedSignIns,
    ownIdentities: createOwnIdentities({ ...brokers, waysLeft }),
    forgetPhone: createForgetPhone(below),
    /** By address, for the account page and its API together. */
    erasures: createRateLimit({ limit: ERASURES_A_MINUTE, now }),
    enrolmentLinks: createEnrolmentLinks(below),
    invitations: createInvitations({ ...below, accounts }),
  };
}
export type Authentication = People & ReturnType<typeof createAuthentication>;
