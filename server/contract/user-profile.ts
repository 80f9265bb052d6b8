// A realm's user profile: which attributes users have, their allowed values, and the parties that may see and change them.
// Every way in applies the rules of declared attributes; `unmanagedAttributes` governs the others. Decisions "User profile".
import { z } from 'zod';
import { managedBy, WithManagers } from './managed-by.ts';
import { InRealm, name, text } from './names.ts';
import { route } from './route.ts';

export const profileParties = ['admin', 'user'] as const;
export type ProfileParty = (typeof profileParties)[number];
const parties = z.array(z.enum(profileParties)).max(2);

/** Fields of a user that can be declared like attributes; they are single texts. */
export const profileFields = ['username', 'email', 'firstName', 'lastName'] as const;

const bound = z.int().min(0).max(4096).nullable();
const number = z.number().nullable();
export const ProfileValidation = z
  .strictObject({
    minLength: bound.describe('Characters that a value has at least'),
    maxLength: bound.describe('Characters that a value has at most'),
    pattern: text(255)
      .nullable()
      .describe('A regular expression for the whole value, without back references and look-around'),
    min: number.describe('The least number'),
    max: number.describe('The greatest number'),
    options: z.array(text(255)).max(500).nullable().describe('The values that there are'),
  })
  .partial();

const attributeFields = {
  displayName: text(255).nullable().describe('What people see'),
  type: z
    .enum(['string', 'number', 'boolean', 'date', 'email', 'url'])
    .describe(
      'How each value reads: any text, a number, true or false, 2026-12-31, an e-mail address, an http address',
    ),
  multivalued: z.boolean().describe('Whether there may be several values'),
  required: parties.describe('Who must give a value: administrators when they make a user, people on their pages'),
  view: parties.describe('Who may see it'),
  edit: parties.describe('Who may change it; documents may, since they carry people as they are'),
  validation: ProfileValidation.describe('What each value must be'),
  annotations: z.record(name(255), text(2000)).describe('For whoever shows it; the server passes them on'),
};
/** An attribute's default values. */
export const freshAttribute = {
  displayName: null,
  type: 'string',
  multivalued: false,
  required: [],
  view: ['admin', 'user'],
  edit: ['admin', 'user'],
  validation: {},
  annotations: {},
} as const satisfies z.input<z.ZodObject<typeof attributeFields>>;

const named = { name: name(255).describe(`The attribute, or one of ${profileFields.join(', ')}`) };
export const ProfileAttribute = z.object({ ...named, ...attributeFields }).meta({ id: 'ProfileAttribute' });
export type ProfileAttribute = z.infer<typeof ProfileAttribute>;

const unmanaged = z
  .enum(['enabled', 'adminEdit', 'adminView', 'disabled'])
  .describe(
    'Attributes that aren’t declared: enabled: like any other; adminEdit: administrators’ alone; adminView: they see them, nobody changes them; disabled: nobody has them',
  );

export const UserProfile = z
  .object({ unmanagedAttributes: unmanaged, attributes: z.array(ProfileAttribute), ...managedBy })
  .meta({ id: 'UserProfile' });
export type UserProfile = z.infer<typeof UserProfile>;
/** In a realm document and in PUT: any part; a list of attributes replaces all of them. */
export const UserProfileDocument = z
  .strictObject({
    unmanagedAttributes: unmanaged,
    attributes: z
      .array(z.strictObject(attributeFields).partial().extend(named))
      .max(200)
      .describe('All declared attributes, in the order in which they are shown'),
  })
  .partial();
export type UserProfileDocument = z.infer<typeof UserProfileDocument>;

const at = '/admin/realms/:realm/user-profile' as const;
export const getUserProfile = route({
  method: 'GET',
  path: at,
  tag: 'users',
  summary: 'Read the realm’s user profile: which attributes people have',
  permission: 'settings:read',
  params: InRealm,
  query: WithManagers,
  response: UserProfile,
});
export const putUserProfile = route({
  method: 'PUT',
  path: at,
  tag: 'users',
  summary: 'Set the realm’s user profile; a field that is left out keeps its value',
  description:
    'It holds for what is written from now on: people who don’t fit stay as they are until what doesn’t fit is changed.',
  permission: 'settings:write',
  params: InRealm,
  body: UserProfileDocument.extend(managedBy),
  example: { attributes: [{ name: 'phone', displayName: 'Phone', view: ['admin', 'user'], edit: ['admin'] }] },
  response: UserProfile,
  problems: ['declared-only', 'precondition-failed'],
});
