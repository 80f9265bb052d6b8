// A user's personal data in a realm: export, consents, erasure; for administrators and for the user. Specification 2.9, 4.6.
import { z } from 'zod';
import { EpochMs, Id, RealmName } from './names.ts';
import { route } from './route.ts';

export const EXPORT_SCHEMA = 'svc.gdpr.export/v1';

export const ConsentRecord = z
  .object({
    clientId: z.string().describe('A SAML client’s is its entity id'),
    clientName: z.string().nullable(),
    scopes: z.array(z.string()),
    resources: z.array(z.string()).describe('Where tokens may be used for the person'),
    claims: z
      .array(z.string())
      .describe('What the application’s own mappers say of the person; the attributes of a SAML client'),
    grantedAt: EpochMs,
    updatedAt: EpochMs,
  })
  .meta({ id: 'ConsentRecord' });
export type ConsentRecord = z.infer<typeof ConsentRecord>;

const anything = z.record(z.string(), z.unknown());
export const GdprExport = z
  .object({
    generatedAt: EpochMs,
    schema: z.literal(EXPORT_SCHEMA),
    realmId: RealmName,
    userId: Id,
    profile: z.object({
      username: z.string(),
      email: z.string().nullable(),
      emailVerified: z.boolean(),
      firstName: z.string().nullable(),
      lastName: z.string().nullable(),
      enabled: z.boolean(),
      createdAt: EpochMs,
    }),
    attributes: z.record(z.string(), z.array(z.string())),
    roles: z.array(z.string()).describe('Realm roles that the person holds directly'),
    realmMemberships: z.array(z.object({ realmId: RealmName, joinedAt: EpochMs.nullable() })),
    organizations: z.array(anything),
    credentials: z
      .array(
        z.object({
          id: Id,
          type: z.string(),
          label: z.string().nullable(),
          createdAt: EpochMs,
          lastUsedAt: EpochMs.nullable(),
        }),
      )
      .describe('Which there are; never what they are'),
    federatedLinks: z.array(anything),
    consents: z.array(ConsentRecord),
    loginEvents: z
      .array(
        z.object({
          type: z.string(),
          occurredAt: EpochMs,
          ipAddress: z.string().nullable(),
          userAgent: z.string().nullable(),
          clientId: z.string().nullable(),
          outcome: z.string(),
        }),
      )
      .describe('Sign-ins, tries and sign-outs that are kept, and the sessions that go on; newest first'),
  })
  .meta({ id: 'GdprExport' });
export type GdprExport = z.infer<typeof GdprExport>;

const tag = 'gdpr';
const OfUser = z.strictObject({ realm: RealmName, userId: Id });
const ofUser = '/admin/realms/:realm/users/:userId/gdpr' as const;

export const exportUserData = route({
  method: 'GET',
  path: `${ofUser}/export`,
  operationId: 'exportUserData',
  tag,
  summary: 'Export what the realm holds of a person',
  description: 'It is audited (`DATA_EXPORTED`), and the person sees it in their activity.',
  permission: 'users:read',
  params: OfUser,
  response: GdprExport,
  problems: ['not-found'],
});
export const listUserConsents = route({
  method: 'GET',
  path: `${ofUser}/consents`,
  tag,
  summary: 'List what a person has agreed to',
  permission: 'users:read',
  params: OfUser,
  response: z.array(ConsentRecord),
  problems: ['not-found'],
});
export const revokeUserConsent = route({
  method: 'DELETE',
  path: `${ofUser}/consents/:clientId`,
  operationId: 'revokeUserConsent',
  tag,
  summary: 'Take back what a person agreed to for one application, with the tokens that it has',
  description: 'The application asks the person again at the next sign-in.',
  permission: 'users:write',
  params: OfUser.extend({ clientId: z.string().min(1).max(1024).describe('Of a SAML client its entity id') }),
  status: 204,
  problems: ['not-found', 'privilege-escalation'],
});
export const eraseUser = route({
  method: 'DELETE',
  path: ofUser,
  operationId: 'eraseUser',
  tag,
  summary: 'Erase a person and what belongs to them; it cannot be undone',
  description:
    'The audit log stays, with the person replaced by a pseudonym in every row, as in deliveries that wait. A second call is 404. `If-Match` takes the entity tag of the user.',
  permission: 'users:write',
  params: OfUser,
  status: 204,
  problems: ['not-found', 'privilege-escalation', 'precondition-failed', 'last-administrator'],
});

const Own = z.strictObject({ realm: RealmName });
const own = '/realms/:realm/account/gdpr' as const;

export const exportOwnData = route({
  method: 'GET',
  path: `${own}/export`,
  operationId: 'exportOwnData',
  tag,
  summary: 'Download what the realm holds of you',
  description: 'It is told in your activity and by mail.',
  permission: null,
  principal: 'person',
  fresh: true,
  params: Own,
  response: GdprExport,
});
export const listOwnConsents = route({
  method: 'GET',
  path: `${own}/consents`,
  operationId: 'listOwnConsents',
  tag,
  summary: 'List what you have agreed to',
  permission: null,
  principal: 'person',
  params: Own,
  response: z.array(ConsentRecord),
});
export const revokeOwnConsent = route({
  method: 'DELETE',
  path: `${own}/consents/:clientId`,
  operationId: 'revokeOwnConsent',
  tag,
  summary: 'Take back what you agreed to for one application, with the tokens that it has',
  permission: null,
  principal: 'person',
  params: z.strictObject({ realm: RealmName, clientId: z.string().min(1).max(1024) }),
  status: 204,
  problems: ['not-found'],
});
