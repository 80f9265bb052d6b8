// Converts a user's row to the SCIM user of a response, and a client's SCIM user to the users feature's input. Pure.
import type { Changes } from '../../../contract/names.ts';
import { ENTERPRISE, USER } from '../../../contract/scim.ts';
import { type UserInput as Input, UserInput } from '../../../contract/users.ts';
import { shownGroupPath } from '../../../domain/group-names.ts';
import { boundedFieldErrors } from '../../../http/problems.ts';
import type { Values } from './body.ts';
import { scimProblem } from './fault.ts';
import { attributesWith, scimPathOf, showAttributes } from './user-attributes.ts';
import { addressOf, documentOf, listAt, showDocument, withOnePrimary } from './user-document.ts';
import type { ScimUserExtras, ScimUserRow } from './user-store.ts';

const WORK = 'work';

/** Values that the row doesn't hold: the SCIM server's address, and the attributes that the reader may see. */
export interface Showing {
  /** The SCIM server's base address. */
  base: string;
  visible(attributes: ScimUserRow['attributes']): Record<string, string[]>;
}

/** The whole resource without `meta.version`, which is its digest. */
export function userResource(row: ScimUserRow, { base, visible }: Showing): Values {
  const user: Values = {
    schemas: [USER],
    id: row.id,
    ...(row.external_id !== null && { externalId: row.external_id }),
    userName: row.username,
  };
  const name = {
    ...(row.last_name && { familyName: row.last_name }),
    ...(row.first_name && { givenName: row.first_name }),
  };
  if (Object.keys(name).length > 0) user.name = name;
  user.active = row.enabled;
  if (row.email !== null)
    user.emails = [{ value: row.email, type: row.email_type ?? WORK, primary: row.email_primary }];
  showAttributes(user, visible(row.attributes));
  if (row.groups.length > 0)
    user.groups = row.groups.map(({ id, path }) => ({
      value: id,
      $ref: `${base}/Groups/${id}`,
      display: shownGroupPath(path).slice(1),
      type: 'direct',
    }));
  if (row.roles.length > 0) user.roles = row.roles.map((value) => ({ value }));
  showDocument(user, row.document);
  if (Object.hasOwn(user, ENTERPRISE)) user.schemas = [USER, ENTERPRISE];
  user.meta = {
    resourceType: 'User',
    created: row.created_at.toISOString(),
    lastModified: row.updated_at.toISOString(),
    location: `${base}/Users/${row.id}`,
  };
  return user;
}

export interface WantedUser {
  input: Input;
  said: ScimUserExtras;
}

const textAt = (value: unknown, max: number, path: string): string | null => {
  if (value === undefined) return null;
  const text = String(value);
  if (text.length > max) throw scimProblem('invalidValue', `${path} must have at most ${max} characters`);
  return text;
};

/**
 * Converts a SCIM user to the users feature's input.
 * @param before the user's present attributes; `roles`: whether absent roles mean none (`said`), or no change (`kept`)
 * @throws Problem `invalidValue`
 */
export function wantedUser(
  said: Values,
  { before, roles }: { before: ScimUserRow['attributes']; roles: 'said' | 'kept' },
): WantedUser {
  const user = withOnePrimary(said);
  const { userName, active, password } = user;
  const { givenName = null, familyName = null } = Object(user.name);
  const email = addressOf(user);
  if (userName === undefined) throw scimProblem('invalidValue', 'userName is required');
  const input: Changes<Input> = {
    username: String(userName),
    firstName: givenName,
    lastName: familyName,
    email: (email?.value as string | undefined) ?? null,
    attributes: attributesWith(user, before),
    ...(typeof active === 'boolean' && { enabled: active }),
    ...(typeof password === 'string' && { password }),
    ...((user.roles !== undefined || roles === 'said') && {
      roles: listAt(user.roles).flatMap(({ value }) => (typeof value === 'string' ? [value] : [])),
    }),
  };
  const { data, error } = UserInput.safeParse(input);
  if (error) {
    const { errors: faults } = boundedFieldErrors(error.issues);
    throw scimProblem('invalidValue', faults.map(({ path, message }) => `${scimPathOf(path)}: ${message}`).join('; '));
  }
  const type = textAt(email?.type, 50, 'emails.type');
  return {
    input: data,
    said: {
      externalId: textAt(user.externalId, 255, 'externalId'),
      emailType: type === null || type === WORK ? null : type,
      emailPrimary: email?.primary !== false,
      document: documentOf(user),
    },
  };
}
