// Tokens for the realm's SCIM server. Decisions "SCIM token"; specification 4.11, 5.
import { z } from 'zod';
import { ById, EpochMs, Id, InRealm, name, Page } from './names.ts';
import { route } from './route.ts';

export const scimPermissions = ['read', 'write'] as const;
export type ScimPermission = (typeof scimPermissions)[number];

const fields = {
  name: name(255).describe('Who provisions by it; audit events name it'),
  permissions: z.array(z.enum(scimPermissions)).min(1).max(2),
};
export const ScimToken = z
  .object({
    id: Id,
    ...fields,
    createdAt: EpochMs,
    expiresAt: EpochMs.nullable().describe('null: when it is deleted'),
    lastUsedAt: EpochMs.nullable().describe('To the minute'),
  })
  .meta({ id: 'ScimToken' });
export type ScimToken = z.infer<typeof ScimToken>;
export const ScimTokenInput = z.strictObject({ ...fields, expiresAt: EpochMs.optional() });
export type ScimTokenInput = z.infer<typeof ScimTokenInput>;

const tag = 'scim-tokens';
const at = '/admin/realms/:realm/scim-tokens' as const;

export const listScimTokens = route({
  method: 'GET',
  path: at,
  tag,
  summary: 'List the tokens for the realm’s SCIM server; their values are never shown again',
  permission: 'users:read',
  params: InRealm,
  query: Page,
  response: z.array(ScimToken),
});
export const createScimToken = route({
  method: 'POST',
  path: at,
  tag,
  summary: 'Make a token for the realm’s SCIM server, and show it once',
  description:
    'Whoever makes one must hold what it gives: `users:read` and `groups:read`, and `users:write` and `groups:write` for `write`.',
  permission: 'users:write',
  params: InRealm,
  body: ScimTokenInput,
  example: { name: 'entra', permissions: ['read', 'write'] },
  status: 201,
  response: ScimToken.extend({ token: z.string().describe('Shown this once: svc_scim_…') }),
  problems: ['privilege-escalation'],
});
export const deleteScimToken = route({
  method: 'DELETE',
  path: `${at}/:id`,
  tag,
  summary: 'Take such a token back, at once',
  permission: 'users:write',
  params: ById,
  status: 204,
  problems: ['not-found'],
});
