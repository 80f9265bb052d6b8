// Users. Decisions "User"; specification 4.10.
import { z } from 'zod';
import { Email } from './email.ts';
import { GroupPath } from './groups.ts';
import { Attributes, EpochMs, Id, InRealm, name, RealmName, SearchPage, text } from './names.ts';
import { BadStatus } from './passkeys.ts';
import { RequiredAction } from './required-actions.ts';
import { route } from './route.ts';

/** A username has no invisible or text-reversing characters, by which one name can look like another. */
export const Username = name(255)
  .refine(
    (s) => !/[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(s),
    'must not contain invisible or direction characters',
  )
  .describe('Unique in the realm, whatever its case and compatibility forms; never another person’s e-mail address');

const fields = {
  username: Username,
  email: Email.nullable(),
  emailVerified: z.boolean(),
  firstName: text(255).nullable(),
  lastName: text(255).nullable(),
  enabled: z.boolean(),
  attributes: Attributes,
  requiredActions: z.array(RequiredAction).max(20),
};

export const User = z
  .object({
    id: Id,
    ...fields,
    // Not `Username`: stored names may be older than its rules.
    username: z.string(),
    email: z.string().nullable(),
    roles: z.array(z.string()).describe('Realm roles, directly held'),
    groups: z.array(z.string()).describe('Paths'),
    createdAt: EpochMs,
  })
  .meta({ id: 'User' });
export type User = z.infer<typeof User>;
export const ListedUser = User.extend({
  locked: z.boolean().optional().describe('With `?with=locked`: whether failed sign-ins have locked the user just now'),
}).meta({ id: 'ListedUser' });
export type ListedUser = z.infer<typeof ListedUser>;

export const Password = text(512).min(1);
export const UserInput = z
  .strictObject({
    ...fields,
    roles: z.array(name()).max(500),
    groups: z.array(GroupPath).max(500),
    password: Password.describe('Write-only'),
    passwordTemporary: z.boolean().describe('true: must be changed at the next sign-in'),
  })
  .partial()
  .required({ username: true });
export type UserInput = z.infer<typeof UserInput>;
/** PUT accepts the response of GET, or any part of it. */
export const UserUpdate = UserInput.extend({ id: Id, createdAt: EpochMs }).partial();

/**
 * A credential moved from elsewhere. `phc`: a PHC string of argon2, scrypt, or PBKDF2 with SHA-1, SHA-256 or
 * SHA-512 (`$pbkdf2-sha256$i=…$salt$hash`), or a hash of bcrypt (`$2b$12$…`); it stays usable and is rehashed at the next sign-in.
 */
export const CredentialDocument = z.strictObject({
  type: z.enum(['password', 'otp']),
  phc: text(1000).optional().describe('type password: the hash with algorithm and parameters'),
  temporary: z.boolean().optional(),
  secret: z
    .string()
    .regex(/^[A-Z2-7]+=*$/)
    .max(256)
    .optional()
    .describe('type otp: the shared secret, base32'),
  algorithm: z.enum(['SHA1', 'SHA256', 'SHA512']).optional(),
  digits: z.int().min(6).max(8).optional(),
  period: z.int().min(15).max(120).optional(),
  label: text(255).optional(),
});
export type CredentialDocument = z.infer<typeof CredentialDocument>;

/** A user's account at an identity provider of the realm. An existing link stays, even if it belongs to another user. */
export const IdentityDocument = z.strictObject({
  identityProvider: name(255).describe('The alias'),
  issuer: text(2048)
    .min(1)
    .describe(
      'Whose the subject is: the `iss` of oidc, the entity id of saml, of oauth2 the origin of its userinfo endpoint',
    ),
  subject: text(2048).min(1).describe('Who the user is there'),
  name: text(255).optional().describe('What they are called there'),
});
export type IdentityDocument = z.infer<typeof IdentityDocument>;

/** In a realm document; the natural key is the username. */
export const UserDocument = z
  .strictObject({
    id: Id.describe('Of somebody who is created: kept, so that applications know them by the same `sub`; not exported'),
    ...fields,
    roles: z.array(name()).max(500),
    groups: z.array(GroupPath).max(500),
    clientRoles: z.record(name(), z.array(name()).max(500)),
    credentials: z.array(CredentialDocument).max(20).describe('Write-only'),
    identities: z.array(IdentityDocument).max(100).describe('Write-only: by which identity providers they sign in'),
    createdAt: EpochMs,
    olderThanProfile: z
      .array(text(300))
      .max(1000)
      .describe(
        'Fields (`email`, `attributes.phone`) that the realm’s user profile wouldn’t let pass, since they are older than it: exports name them, and an import by who holds `settings:write` takes them as they are',
      ),
  })
  .partial()
  .required({ username: true });
export type UserDocument = z.infer<typeof UserDocument>;

const tag = 'users';
const at = '/admin/realms/:realm/users' as const;
const ByUser = z.strictObject({ realm: RealmName, userId: Id });

/** `attribute.NAME=value`: any number of them, in addition to the named filters. */
const ATTRIBUTE = 'attribute.';
const filters = SearchPage.extend({
  q: text(255)
    .optional()
    .describe(
      'Text that is in the username, the e-mail address, the first or the last name; among many users, a text of one or two characters is found where one of them begins',
    ),
  enabled: z.stringbool().optional().describe('true or false'),
  locked: z.stringbool().optional().describe('true or false: whether failed sign-ins have locked the user just now'),
  email: text(254).optional().describe('The whole address, whatever its case'),
  role: name().optional().describe('Name of a realm role that is held directly'),
  group: GroupPath.optional().describe('Path of a group whose direct member the user is'),
  organization: name()
    .optional()
    .describe('Name of an organization whose member the user is; needs `organizations:read`'),
  with: z.enum(['locked']).optional().describe('What each row has besides: `locked`'),
});
const AttributeValue = text(4096);
export const UserQuery = z.looseObject(filters.shape).superRefine((query, context) => {
  for (const [key, value] of Object.entries(query)) {
    if (Object.hasOwn(filters.shape, key)) continue;
    if (!key.startsWith(ATTRIBUTE) || key === ATTRIBUTE || key.includes('\0'))
      context.addIssue({ code: 'unrecognized_keys', keys: [key], input: query });
    else if (!AttributeValue.safeParse(value).success)
      context.addIssue({ code: 'custom', path: [key], message: 'must be one text of at most 4096 characters' });
  }
});
export type UserQuery = z.output<typeof UserQuery>;
/** The attribute filters, name → value; undefined: there are none. */
export function attributesIn(query: UserQuery): Record<string, string> | undefined {
  const asked = Object.entries(query).filter(([key]) => key.startsWith(ATTRIBUTE));
  if (asked.length === 0) return undefined;
  return Object.fromEntries(asked.map(([key, value]) => [key.slice(ATTRIBUTE.length), String(value)]));
}

export const listUsers = route({
  method: 'GET',
  path: at,
  tag,
  summary: 'List or search users, by username',
  description:
    'All that is asked for must hold; `attribute.NAME=value` asks for users one of whose values of that attribute is the value. A search for three characters or more is answered from an index where the database has the extension `pg_trgm`; without it, `q` is how the username, the address or one of the names begins, by an index too.',
  permission: 'users:read',
  reach: 'rows',
  params: InRealm,
  query: UserQuery,
  response: z.array(ListedUser),
});
export const createUser = route({
  method: 'POST',
  path: at,
  tag,
  summary: 'Create a user',
  permission: 'users:write',
  reach: 'rows',
  params: InRealm,
  body: UserInput,
  example: {
    username: 'bob',
    email: 'bob@example.com',
    firstName: 'Bob',
    lastName: 'Builder',
    password: 'correct horse battery staple',
    passwordTemporary: true,
  },
  status: 201,
  response: User,
  problems: ['name-taken', 'privilege-escalation'],
});
export const getUser = route({
  method: 'GET',
  path: `${at}/:userId`,
  tag,
  summary: 'Read a user',
  permission: 'users:read',
  reach: { user: 'userId' },
  params: ByUser,
  response: User,
  problems: ['not-found'],
});
export const putUser = route({
  method: 'PUT',
  path: `${at}/:userId`,
  tag,
  summary: 'Update a user; a field that is left out keeps its value',
  description: 'A new password and `enabled: false` end all sessions and tokens of the user.',
  permission: 'users:write',
  reach: { user: 'userId' },
  params: ByUser,
  body: UserUpdate,
  example: { lastName: 'Baker', attributes: { department: ['sales'] } },
  response: User,
  problems: ['not-found', 'name-taken', 'privilege-escalation', 'precondition-failed', 'last-administrator'],
});
export const deleteUser = route({
  method: 'DELETE',
  path: `${at}/:userId`,
  tag,
  summary: 'Delete a user with sessions and credentials',
  permission: 'users:write',
  reach: { user: 'userId' },
  params: ByUser,
  status: 204,
  problems: ['not-found', 'privilege-escalation', 'precondition-failed', 'last-administrator'],
});
export const setPassword = route({
  method: 'PUT',
  path: `${at}/:userId/password`,
  tag,
  summary: 'Set a password',
  description:
    'Ends all sessions and tokens of the user; who sets their own password keeps the session in which they do so.',
  permission: 'users:write',
  reach: { user: 'userId' },
  params: ByUser,
  body: z.strictObject({ password: Password, temporary: z.boolean().optional() }),
  example: { password: 'correct horse battery staple', temporary: true },
  status: 204,
  problems: ['not-found', 'privilege-escalation'],
});

export const mailPasswordReset = route({
  method: 'POST',
  path: `${at}/:userId/password/reset-mail`,
  operationId: 'mailPasswordReset',
  tag,
  summary: 'Mail a user a link by which they choose a new password',
  description:
    'As if the user had said that the password is forgotten: the link goes to the verified address, works once, and the present password stays until then. 409 `wrong-state`: the user is disabled, has no verified address, signs in without a password or by one that a directory keeps; or no mail goes out, without a provider or beyond a limit.',
  permission: 'users:write',
  reach: { user: 'userId' },
  params: ByUser,
  status: 202,
  response: z.object({ expiresAt: EpochMs.describe('When the link ends') }),
  problems: ['not-found', 'wrong-state', 'privilege-escalation'],
});

export const RequiredActions = z.strictObject({ requiredActions: fields.requiredActions });
export const getRequiredActions = route({
  method: 'GET',
  path: `${at}/:userId/required-actions`,
  tag,
  summary: 'What a user must do at the next sign-in',
  permission: 'users:read',
  reach: { user: 'userId' },
  params: ByUser,
  response: RequiredActions,
  problems: ['not-found'],
});
export const putRequiredActions = route({
  method: 'PUT',
  path: `${at}/:userId/required-actions`,
  tag,
  summary: 'Say what a user must do at the next sign-in',
  description:
    'These and no other, in the order UPDATE_PASSWORD, CONFIGURE_OTP, CONFIGURE_PASSKEY, CONFIGURE_RECOVERY_CODES, VERIFY_EMAIL (by a code or link sent there), UPDATE_PROFILE (names, and the attributes that the user profile lets people edit), TERMS (those of the settings `termsUrl` and `termsVersion`).',
  permission: 'users:write',
  reach: { user: 'userId' },
  params: ByUser,
  body: RequiredActions,
  example: { requiredActions: ['UPDATE_PROFILE'] },
  response: RequiredActions,
  problems: ['not-found', 'privilege-escalation', 'precondition-failed'],
});

export const Credential = z
  .object({
    id: Id,
    type: z.string(),
    label: z.string().nullable(),
    createdAt: EpochMs,
    lastUsedAt: EpochMs.nullable().describe('Of a password as far as the audit log goes back'),
    temporary: z
      .boolean()
      .optional()
      .describe('Of a password: whether the person must choose another at the next sign-in'),
    reported: z
      .boolean()
      .optional()
      .describe(
        'Of a password: it signs nobody in until it is another one, since its owner said that somebody else has signed in',
      ),
    backedUp: z.boolean().optional().describe('Of a passkey: whether it is kept beyond its device'),
    deviceBound: z.boolean().optional().describe('Of a passkey: whether it can’t leave its authenticator'),
    authenticator: z
      .strictObject({
        aaguid: z.string(),
        name: z.string().nullable().describe('By FIDO’s metadata; null: it doesn’t know the model'),
        proven: z.boolean().describe('Whether an attestation proves the model'),
        statuses: z.array(BadStatus).describe('What FIDO’s metadata reports against the model'),
      })
      .optional()
      .describe('Of a passkey: the model of its authenticator'),
    codesLeft: z.int().optional().describe('Of recovery codes: how many were not used yet'),
  })
  .meta({ id: 'Credential' });
export type Credential = z.infer<typeof Credential>;
export const listCredentials = route({
  method: 'GET',
  path: `${at}/:userId/credentials`,
  tag,
  summary: 'What a user can sign in with',
  permission: 'users:read',
  reach: { user: 'userId' },
  params: ByUser,
  response: z.array(Credential),
  problems: ['not-found'],
});
export const deleteCredential = route({
  method: 'DELETE',
  path: `${at}/:userId/credentials/:type/:id`,
  tag,
  summary: 'Delete a credential',
  description: 'Ends all sessions and tokens of the user.',
  permission: 'users:write',
  reach: { user: 'userId' },
  params: z.strictObject({ realm: RealmName, userId: Id, type: name(50), id: Id }),
  status: 204,
  problems: ['not-found', 'privilege-escalation', 'last-administrator'],
});
