// A user's single roles and groups; and a group's members. Decisions "Role", "Group"; specification 4.10.
import { z } from 'zod';
import { Id, Page, RealmName } from './names.ts';
import { RoleName } from './roles.ts';
import { route } from './route.ts';
import { User } from './users.ts';

const ByUser = z.strictObject({ realm: RealmName, userId: Id });
const ofUser = '/admin/realms/:realm/users/:userId/roles' as const;

export const HeldRole = RoleName.extend({
  from: z
    .array(
      z.object({
        by: z.enum(['direct', 'group', 'composite']),
        name: z.string().nullable().describe('group: its path; composite: the role that contains this one'),
        clientId: z.string().nullable().describe('Whose role it is that contains this one; null: the realm’s'),
      }),
    )
    .describe('Every way that the user has it'),
}).meta({ id: 'HeldRole' });
export type HeldRole = z.infer<typeof HeldRole>;

export const listUserRoles = route({
  method: 'GET',
  path: ofUser,
  tag: 'users',
  summary: 'List the roles that a user holds directly, or has at all',
  permission: 'users:read',
  reach: { user: 'userId' },
  params: ByUser,
  query: Page.extend({
    effective: z
      .stringbool()
      .optional()
      .describe('true: every role that the user has, by groups and by other roles too'),
  }),
  response: z.array(HeldRole),
  problems: ['not-found'],
});
export const addUserRole = route({
  method: 'POST',
  path: ofUser,
  operationId: 'addUserRole',
  tag: 'users',
  summary: 'Give a user a role, of the realm or of a client',
  permission: 'users:write',
  params: ByUser,
  body: z.strictObject({ roleId: Id }),
  example: { roleId: '018f6d1e-7a3b-7c4d-8e5f-6a7b8c9d0e1f' },
  status: 204,
  problems: ['not-found', 'privilege-escalation'],
});
export const removeUserRole = route({
  method: 'DELETE',
  path: `${ofUser}/:roleId`,
  tag: 'users',
  summary: 'Take a role away that a user holds directly',
  permission: 'users:write',
  params: ByUser.extend({ roleId: Id }),
  status: 204,
  problems: ['not-found', 'privilege-escalation'],
});

const ByGroup = z.strictObject({ realm: RealmName, id: Id.describe('The group’s id') });
const ofGroup = '/admin/realms/:realm/groups/:id/members' as const;

export const listGroupMembers = route({
  method: 'GET',
  path: ofGroup,
  tag: 'groups',
  summary: 'List the users who are in a group itself',
  description: 'Those of its subgroups are listed there. It shows users, and so needs the right to read them.',
  permission: 'users:read',
  reach: { group: 'id' },
  params: ByGroup,
  query: Page,
  response: z.array(User),
  problems: ['not-found'],
});
export const addGroupMember = route({
  method: 'PUT',
  path: `${ofGroup}/:userId`,
  tag: 'groups',
  summary: 'Put a user into a group',
  permission: 'users:write',
  reach: { group: 'id', user: 'userId' },
  params: ByGroup.extend({ userId: Id }),
  status: 204,
  problems: ['not-found', 'privilege-escalation'],
});
export const removeGroupMember = route({
  method: 'DELETE',
  path: `${ofGroup}/:userId`,
  operationId: 'removeGroupMember',
  tag: 'groups',
  summary: 'Take a user out of a group',
  permission: 'users:write',
  reach: { group: 'id', user: 'userId' },
  params: ByGroup.extend({ userId: Id }),
  status: 204,
  problems: ['not-found', 'privilege-escalation'],
});
