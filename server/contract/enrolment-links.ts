// Links by which users set up a lost credential again: a passkey, an authenticator app. Specification 4.10 (users).
import { z } from 'zod';
import { EpochMs, Id, RealmName } from './names.ts';
import { route } from './route.ts';

export const LinkAction = z.enum(['CONFIGURE_PASSKEY', 'CONFIGURE_OTP']);
export type LinkAction = z.infer<typeof LinkAction>;

export const createEnrolmentLink = route({
  method: 'POST',
  path: '/admin/realms/:realm/users/:userId/enrollment-links',
  operationId: 'createEnrolmentLink',
  tag: 'users',
  summary: 'Make a link by which the user sets up what they have lost',
  description:
    'Works once, in any browser, and as long as whoever made it could make it still; a new one takes the place of the one before. A new password and a sign-in that the user reports end it. Whoever opens it sets up a way to sign in as the user, and is signed in by it to nothing: give it to nobody before you know who asks.',
  permission: 'users:write',
  reach: { user: 'userId' },
  params: z.strictObject({ realm: RealmName, userId: Id }),
  body: z.strictObject({
    action: LinkAction,
    replaces: z
      .boolean()
      .optional()
      .describe(
        'Whether what they had of the kind is removed, and what it was used for ended, when the new one is there; left out: yes',
      ),
    expiresInSeconds: z.int().min(60).max(86_400).optional().describe('Left out: an hour'),
  }),
  example: { action: 'CONFIGURE_PASSKEY' },
  status: 201,
  response: z.object({ link: z.string().describe('Shown this once'), expiresAt: EpochMs }),
  problems: ['not-found', 'wrong-state', 'privilege-escalation'],
});

export const deleteEnrolmentLink = route({
  method: 'DELETE',
  path: '/admin/realms/:realm/users/:userId/enrollment-links',
  operationId: 'deleteEnrolmentLink',
  tag: 'users',
  summary: 'Take back the link by which the user sets up what they have lost',
  permission: 'users:write',
  reach: { user: 'userId' },
  params: z.strictObject({ realm: RealmName, userId: Id }),
  status: 204,
  problems: ['not-found', 'privilege-escalation'],
});
