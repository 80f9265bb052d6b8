// Invitations: a link by which an invited person joins an organization, or gets an account in the realm. Decisions "Organization".

import { z } from 'zod';
import { DAY_SECONDS } from './durations.ts';
import { Email } from './email.ts';
import { ById, EpochMs, Id, InRealm, name, Page } from './names.ts';
import { route } from './route.ts';

const tag = 'invitations';
const at = '/admin/realms/:realm/invitations' as const;

export const Invitation = z
  .object({
    id: Id,
    email: z.string(),
    organization: z.string().nullable().describe('Its name; null: to the realm alone'),
    mailStatus: z
      .enum(['none', 'queued', 'sent', 'failed', 'unknown'])
      .describe(
        'The message with the link that works now. none: the link was shown instead; queued: not sent yet, or about to be tried again; sent: the mail server took it; failed: given up; unknown: the message is not stored any more',
      ),
    mailError: z
      .string()
      .nullable()
      .describe('queued, failed: the mail server’s own words at the last try, for callers with `messaging:read`'),
    mailedAt: EpochMs.nullable().describe('When the mail server took that message; null: it has not, or unknown'),
    createdAt: EpochMs,
    expiresAt: EpochMs,
  })
  .meta({ id: 'Invitation' });
export type Invitation = z.infer<typeof Invitation>;

const Sent = Invitation.extend({
  link: z.string().nullable().describe('Shown this once, where it isn’t sent by mail; null: it is'),
});
const how = {
  mail: z
    .boolean()
    .optional()
    .describe('false: the link is answered, to be handed over otherwise, and the address counts as unverified'),
  expiresInSeconds: z
    .int()
    .min(60)
    .max(30 * DAY_SECONDS)
    .optional()
    .describe('How long the link works; default seven days'),
};

export const listInvitations = route({
  method: 'GET',
  path: at,
  tag,
  summary: 'List invitations that nobody has accepted yet, by e-mail address',
  permission: 'users:read',
  params: InRealm,
  query: Page.extend({ organization: name(255).optional().describe('Those to this organization alone') }),
  response: z.array(Invitation),
});
export const createInvitation = route({
  method: 'POST',
  path: at,
  tag,
  summary: 'Invite somebody by their e-mail address',
  description:
    'The link is for one use. Who has an account with this address joins the organization by it; anybody else makes an account first, even where registration is closed. The answer is the same for both. Inviting an address again replaces the invitation that there is. To an organization it also needs `organizations:write`.',
  permission: 'users:write',
  params: InRealm,
  body: z.strictObject({
    email: Email,
    organization: name(255).nullish().describe('Name of the one that they join'),
    ...how,
  }),
  example: { email: 'ada@example.com', mail: false },
  status: 201,
  response: Sent,
  problems: ['forbidden', 'wrong-state', 'too-many-requests'],
});
export const resendInvitation = route({
  method: 'POST',
  path: `${at}/:id/resend`,
  tag,
  summary: 'Send a new link; the old one works no more',
  permission: 'users:write',
  params: ById,
  body: z.strictObject(how).nullish(),
  example: { mail: false },
  response: Sent,
  problems: ['not-found', 'forbidden', 'wrong-state', 'too-many-requests'],
});
export const revokeInvitation = route({
  method: 'DELETE',
  path: `${at}/:id`,
  tag,
  operationId: 'revokeInvitation',
  summary: 'Revoke an invitation',
  permission: 'users:write',
  params: ById,
  status: 204,
  problems: ['not-found', 'forbidden'],
});
