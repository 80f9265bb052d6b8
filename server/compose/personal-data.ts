// Every feature that stores personal data. A test demands an owner for each table that names a user. It decides
// nothing.
import type { PersonalData } from '../domain/personal-data.ts';
import { identityData } from '../features/authentication/brokering/personal-data.ts';
import { enrolmentLinkData } from '../features/authentication/enrolment-links/personal-data.ts';
import { invitationData } from '../features/authentication/invitations/personal-data.ts';
import { newDeviceData } from '../features/authentication/new-device/personal-data.ts';
import { recoveryData } from '../features/authentication/recovery/personal-data.ts';
import { authorizationData } from '../features/configuration/authorization-services/personal-data.ts';
import { messagingData } from '../features/configuration/messaging/personal-data.ts';
import { organizationData } from '../features/configuration/organizations/personal-data.ts';
import { holdData } from '../features/operations/holds/personal-data.ts';
import { provisioningData } from '../features/operations/scim/personal-data.ts';
import { planData } from '../features/operations/transfer/personal-data.ts';
import { agentData } from '../features/people/agents/personal-data.ts';
import { credentialData } from '../features/people/credentials/personal-data.ts';
import { deviceData } from '../features/people/devices/personal-data.ts';
import { historyData } from '../features/people/gdpr/history.ts';
import { federationData } from '../features/people/user-federation/personal-data.ts';
import { profileData } from '../features/people/users/personal-data.ts';
import { signalData } from '../features/protocol/ssf/personal-data.ts';
import { umaData } from '../features/protocol/uma/personal-data.ts';

export const personalData: readonly PersonalData[] = [
  profileData,
  credentialData,
  identityData,
  recoveryData,
  newDeviceData,
  enrolmentLinkData,
  messagingData,
  organizationData,
  invitationData,
  agentData,
  authorizationData,
  deviceData,
  provisioningData,
  umaData,
  signalData,
  federationData,
  planData,
  holdData,
  ...historyData,
];
