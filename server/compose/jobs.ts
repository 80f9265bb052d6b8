// All jobs, in one list. Of jobs that rarely run, a start loads only the terms; their code is loaded with their first
// run. It decides nothing.

import { rotationTerms } from '../custody/rotation-terms.ts';
import type { Factors } from '../domain/factors.ts';
import { keepChanges } from '../features/authentication/new-device/store.ts';
import type { SignIns } from '../features/authentication/sign-in/service.ts';
import { messageTerms } from '../features/configuration/messaging/message-job.ts';
import type { Send } from '../features/configuration/messaging/send.ts';
import { hasRealmsToRemove, removalTerms } from '../features/configuration/realms/removal-job.ts';
import { hasMetadataAddresses, metadataTerms } from '../features/configuration/saml-clients/refresh-job.ts';
import { deliveryJob } from '../features/configuration/webhooks/delivery.ts';
import { holdTerms } from '../features/operations/holds/job.ts';
import { dueTerms, hasTargets, provisioningTerms } from '../features/operations/scim/provision-jobs.ts';
import { agentReviews } from '../features/people/agents/reviews.ts';
import { authenticatorMetadataTerms } from '../features/people/credentials/metadata-terms.ts';
import { hasSyncs, scheduleTerms, syncTerms } from '../features/people/user-federation/sync-jobs.ts';
import { notifyTerms } from '../features/protocol/backchannel/notify-terms.ts';
import { backChannelJob } from '../features/protocol/logout/back-channel.ts';
import { hasPolledTransmitters, pollDueTerms, pollTerms } from '../features/protocol/signal-transmitters/jobs.ts';
import { pushTerms, sourcesTerms } from '../features/protocol/ssf/consumer.ts';
import type { Uma } from '../features/protocol/uma/service.ts';
import { janitor } from '../jobs/janitor.ts';
import type { Job, Terms } from '../jobs/job.ts';
import { lazyJob } from '../jobs/later.ts';
import type { Start } from './start.ts';

/** The functions of later parts that a start's parts use. */
export interface Rest {
  job(name: string): Job | undefined;
  send: Send;
  signIns: SignIns;
  factors: Factors;
  uma: Uma;
}

/** Data keys are rotated if a custodian wraps them, and a number of days is configured. */
function rotations({ custody, config, ...start }: Start): Job[] {
  const days = config.SVC_DATA_KEY_DAYS;
  if (!custody || days === undefined) return [];
  return [
    lazyJob(rotationTerms, async () => {
      const [{ rotationJob }, { createReseal }, { sealedColumns }] = await Promise.all([
        import('../custody/rotation-job.ts'),
        import('../domain/reseal.ts'),
        import('./sealed-columns.ts'),
      ]);
      return rotationJob({ ...start, custody, days, reseal: createReseal({ ...start, columns: sealedColumns }) });
    }),
  ];
}

const readsAuthenticators = (config: Start['config']): boolean =>
  (config.SVC_FIDO_METADATA_URL ?? config.SVC_FIDO_METADATA_FILE) !== undefined;

export function createJobs(start: Start, rest: () => Promise<Rest>): Job[] {
  const { config, sql, metrics, audit, counting } = start;
  const jobLater = <Payload>(terms: Terms<Payload>, isDue?: () => Promise<boolean>) =>
    lazyJob(terms, async () => (await rest()).job(terms.name), isDue);
  return [
    jobLater(messageTerms),
    deliveryJob({ ...start, gaveUp: metrics.deadLetter, tried: counting.delivery }),
    backChannelJob(start),
    jobLater(provisioningTerms),
    jobLater(dueTerms, () => hasTargets(sql)),
    jobLater(holdTerms),
    jobLater(syncTerms),
    jobLater(scheduleTerms, () => hasSyncs(sql)),
    agentReviews({ ...start, send: async (...message) => (await rest()).send(...message) }),
    jobLater(metadataTerms, () => hasMetadataAddresses(sql)),
    jobLater(authenticatorMetadataTerms, async () => readsAuthenticators(config)),
    jobLater(sourcesTerms),
    jobLater(pushTerms),
    jobLater(notifyTerms),
    jobLater(pollTerms),
    jobLater(pollDueTerms, () => hasPolledTransmitters(sql)),
    jobLater(removalTerms, () => hasRealmsToRemove(sql)),
    ...rotations(start),
    janitor({
      ...start,
      keep: keepChanges,
      eventRetentionDays: config.SVC_EVENT_RETENTION_DAYS,
      forwarding: audit.forwarding,
    }),
  ];
}
