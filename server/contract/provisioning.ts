// The policy for self-registered clients: a view of the realm's settings, and the tokens that permit a registration.
// contract/registration.ts has the protocol's side. Specification 4.2, 4.8; decisions "Fields that the specification
// does not show".
import { z } from 'zod';
import { ById, EpochMs, Id, InRealm, Page } from './names.ts';
import { route } from './route.ts';
import { settingsShape } from './settings.ts';

const fields = {
  registration: settingsShape.clientRegistration,
  allowedGrantTypes: settingsShape.clientRegistrationGrantTypes,
  allowedScopes: settingsShape.clientRegistrationScopes,
  allowedRedirectHosts: settingsShape.clientRegistrationRedirectHosts,
  allowedResources: settingsShape.clientRegistrationResources,
  requireConsent: settingsShape.clientRegistrationConsent,
  metadataDocuments: settingsShape.clientIdMetadataDocuments,
  metadataHosts: settingsShape.clientIdMetadataHosts,
  mostClients: settingsShape.mostRegisteredClients,
  initialAccessTokenTtlSeconds: settingsShape.initialAccessTokenTtlSeconds,
};
export const Provisioning = z.object(fields).meta({ id: 'Provisioning' });
export type Provisioning = z.infer<typeof Provisioning>;
export const ProvisioningInput = z.strictObject(fields).partial();

/** The setting behind each field. */
export const settingOf = {
  registration: 'clientRegistration',
  allowedGrantTypes: 'clientRegistrationGrantTypes',
  allowedScopes: 'clientRegistrationScopes',
  allowedRedirectHosts: 'clientRegistrationRedirectHosts',
  allowedResources: 'clientRegistrationResources',
  requireConsent: 'clientRegistrationConsent',
  metadataDocuments: 'clientIdMetadataDocuments',
  metadataHosts: 'clientIdMetadataHosts',
  mostClients: 'mostRegisteredClients',
  initialAccessTokenTtlSeconds: 'initialAccessTokenTtlSeconds',
} as const;

export const InitialAccessToken = z
  .object({
    id: Id,
    usesLeft: z.int(),
    createdAt: EpochMs,
    expiresAt: EpochMs,
  })
  .meta({ id: 'InitialAccessToken' });
export type InitialAccessToken = z.infer<typeof InitialAccessToken>;

const tag = 'provisioning';
const at = '/admin/realms/:realm/provisioning' as const;

export const getProvisioning = route({
  method: 'GET',
  path: at,
  tag,
  summary: 'Read who may register clients, and with what',
  permission: 'settings:read',
  params: InRealm,
  response: Provisioning,
});
export const putProvisioning = route({
  method: 'PUT',
  path: at,
  tag,
  summary: 'Set who may register clients, and with what; a field that is left out keeps its value',
  description: 'These are settings of the realm (`clientRegistration`, …) and can be declared as such.',
  permission: 'settings:write',
  params: InRealm,
  body: ProvisioningInput,
  example: { registration: 'token', allowedRedirectHosts: ['apps.example.com'] },
  response: Provisioning,
  problems: ['declared-only', 'precondition-failed', 'privilege-escalation'],
});
export const listInitialAccessTokens = route({
  method: 'GET',
  path: `${at}/initial-access-tokens`,
  tag,
  summary: 'List the tokens that clients can be registered with; their values are never shown again',
  permission: 'clients:read',
  params: InRealm,
  query: Page,
  response: z.array(InitialAccessToken),
});
export const UnusedClient = z
  .object({
    id: Id,
    clientId: z.string(),
    name: z.string().nullable(),
    createdAt: EpochMs,
    lastUsedAt: EpochMs.nullable().describe('When it got tokens last, as far as the audit log goes back'),
  })
  .meta({ id: 'UnusedClient' });
export type UnusedClient = z.infer<typeof UnusedClient>;

export const listUnusedRegisteredClients = route({
  method: 'GET',
  path: `${at}/unused-clients`,
  tag,
  summary: 'List the clients that registered themselves, or came by a metadata document, and got no tokens for long',
  description:
    'Clients that an administrator has renamed are not among them. `GET …/unused-clients` lists clients of every origin, by the hour of their last token. Neither list deletes anything: `DELETE …/clients/{id}`.',
  permission: 'clients:read',
  params: InRealm,
  query: Page.extend({
    days: z.coerce.number().int().min(1).max(3650).default(90).describe('For how long'),
  }),
  response: z.array(UnusedClient),
});
export const createInitialAccessToken = route({
  method: 'POST',
  path: `${at}/initial-access-tokens`,
  tag,
  summary: 'Make a token that clients can be registered with, and show it once',
  permission: 'clients:write',
  params: InRealm,
  body: z.strictObject({
    uses: z.int().min(1).max(10_000).default(1).describe('How many clients it registers'),
    expiresAt: EpochMs.optional().describe('Default: as long as the realm’s initialAccessTokenTtlSeconds says'),
  }),
  example: { uses: 5 },
  status: 201,
  response: InitialAccessToken.extend({ token: z.string().describe('Shown this once: svc_iat_…') }),
  problems: ['privilege-escalation'],
});
export const deleteInitialAccessToken = route({
  method: 'DELETE',
  path: `${at}/initial-access-tokens/:id`,
  tag,
  summary: 'Take such a token back; clients that it registered stay',
  permission: 'clients:write',
  params: ById,
  status: 204,
  problems: ['not-found'],
});
