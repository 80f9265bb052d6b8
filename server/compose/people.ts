// The composition root's part for users: their credentials, their devices, their personal data. It decides nothing.
// authentication.ts composes sessions, because authenticators define what a session has proven.
import type { FastifyInstance } from 'fastify';
import { createCodeGuesses } from '../domain/code-guesses.ts';
import { createRateLimit } from '../domain/rate-limit.ts';
import { createOwnAgents } from '../features/people/agents/own.ts';
import { createBreaches } from '../features/people/credentials/breaches.ts';
import { createCommonPasswords } from '../features/people/credentials/common-passwords.ts';
import { createDeviceKeys } from '../features/people/credentials/devices.ts';
import { authenticatorMetadataJob } from '../features/people/credentials/metadata-job.ts';
import { createChoosePassword } from '../features/people/credentials/new-password.ts';
import { createPasskeys } from '../features/people/credentials/passkeys.ts';
import { createRecoveryCodes } from '../features/people/credentials/recovery-codes.ts';
import { createCredentials } from '../features/people/credentials/service.ts';
import { createUserCodes } from '../features/people/credentials/user-codes.ts';
import { createChallenges } from '../features/people/devices/challenges.ts';
import { createEnrolments } from '../features/people/devices/enrolment.ts';
import { deviceRoutes } from '../features/people/devices/routes.ts';
import { guardDevices } from '../features/people/devices/surface.ts';
import { createTransactions } from '../features/people/devices/transactions.ts';
import { createOfflineSessions } from '../features/people/sessions/offline.ts';
import { createFederation } from '../features/people/user-federation/federation.ts';
import { createOwnAccounts } from '../features/people/users/own-account.ts';
import { createOwnEmails } from '../features/people/users/own-email.ts';
import { createOwnPhones } from '../features/people/users/own-phone.ts';
import { createOwnProfiles } from '../features/people/users/own-profile.ts';
import type { LaterConfiguration } from './configuration-later.ts';

export function createPeople(below: LaterConfiguration) {
  const { config, outbound, metrics, settings, warn, now } = below;
  const federation = createFederation({ ...below, log: warn });
  const codeGuesses = createCodeGuesses({ ...below, wrongCode: metrics.wrongCode });
  const breached = createBreaches({ outbound, url: config.SVC_BREACHED_PASSWORDS_URL, log: warn });
  const common = createCommonPasswords();
  const credentials = createCredentials({ ...below, codeGuesses, breached, common, elsewhere: federation.source });
  const deviceKeys = createDeviceKeys(below);
  const enrolments = createEnrolments({ ...below, deviceKeys });
  const challenges = createChallenges({ ...below, credentials, deviceKeys });
  below.caches.push(federation);
  return {
    federation,
    deviceKeys,
    codeGuesses,
    breached,
    credentials,
    choosePassword: createChoosePassword({ credentials }),
    recoveryCodes: createRecoveryCodes(below),
    userCodes: createUserCodes(below),
    passkeys: createPasskeys(below),
    authenticatorMetadata: authenticatorMetadataJob(below),
    enrolments,
    challenges,
    accounts: createOwnAccounts({ ...below, setPassword: credentials.setPassword }),
    profiles: createOwnProfiles(below),
    emails: createOwnEmails(below),
    phones: createOwnPhones(below),
    agents: createOwnAgents(below),
    offline: createOfflineSessions(below),

    /** What devices call. */
    mountDevices(app: FastifyInstance): void {
      const { issuer } = settings;
      guardDevices(app, { ...below, enrolments, deviceKeys, attempts: createRateLimit({ now }), issuer });
      const transactions = createTransactions({ ...below, deviceKeys });
      deviceRoutes(app, { ...below, enrolments, challenges, transactions });
    },
  };
}
export type People = LaterConfiguration & ReturnType<typeof createPeople>;
