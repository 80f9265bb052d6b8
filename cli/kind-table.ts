// The kinds of objects that `get` and `describe` know, in the order of their help.
import { claims, clientScopes, mappers } from './claim-kinds.ts';
import {
  adminRoles,
  agents,
  applications,
  authorizationServices,
  clients,
  flows,
  groups,
  keys,
  managers,
  messageTemplates,
  messagingProviders,
  organizations,
  realms,
  roles,
  webhooks,
  workloadIdentities,
} from './configuration-kinds.ts';
import { identityProviders, samlClients, scimTargets } from './federation-kinds.ts';
import type { Kind } from './kinds.ts';
import { deliveries, events, sessions, users } from './run-time-kinds.ts';

export const kinds: readonly Kind[] = [
  realms,
  clients,
  users,
  roles,
  groups,
  organizations,
  applications,
  agents,
  claims,
  mappers,
  identityProviders,
  samlClients,
  scimTargets,
  clientScopes,
  authorizationServices,
  flows,
  webhooks,
  deliveries,
  workloadIdentities,
  messagingProviders,
  messageTemplates,
  keys,
  sessions,
  events,
  managers,
  adminRoles,
];
