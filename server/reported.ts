// The composition root of what is taken back once a person says that somebody else has signed in as them, in this order.
// It decides nothing. Decisions "New devices".
import { suspendAgentsSince } from './domain/agents.ts';
import type { Distrust } from './domain/distrust.ts';
import { removeLinksSince } from './domain/identity-links.ts';
import type { Browsers } from './features/authentication/risk/browsers.ts';
import { createReportedCredentials, type ReportedDeps } from './features/people/credentials/reported.ts';
import { voidTransactions } from './features/people/devices/reported.ts';
import { withdrawConsentsSince } from './features/people/gdpr/reported.ts';
import { unconfirmSince } from './features/people/users/own-reach.ts';

export const createDistrust = ({
  browsers,
  ...deps
}: ReportedDeps & { browsers: Browsers; now: () => Date }): readonly Distrust[] => [
  unconfirmSince,
  createReportedCredentials(deps).distrust,
  browsers.forgetSince,
  removeLinksSince,
  withdrawConsentsSince,
  suspendAgentsSince,
  voidTransactions(deps),
];
