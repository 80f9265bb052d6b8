// The account API: users manage their own profile, address, password, sessions, linked identities, applications and agents,
// read their activity and delete the account, by a session or an access token with the scope account. Specification 4.11;
// decisions "Single sign-on and freshness".
import { z } from 'zod';
import { IdentityLink } from './identity-links.ts';
import { Attributes, EpochMs, Id, Page, RealmName, text } from './names.ts';
import { route } from './route.ts';
import { Session } from './sessions.ts';

export const accountPath = '/realms/:realm/account' as const;
export const ofOwnAccount = {
  tag: 'account',
  permission: null,
  principal: 'person',
  params: z.strictObject({ realm: RealmName }),
} as const;
const own = ofOwnAccount;
const at = accountPath;
const OfOne = z.strictObject({ realm: RealmName, id: Id });

export const OwnProfile = z
  .object({
    username: z.string(),
    email: z.string().nullable(),
    emailVerified: z.boolean(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    attributes: Attributes.describe('Those that the user profile lets people see'),
    editable: z
      .array(z.string())
      .describe('What the person may change: `firstName`, `email`, `attributes.department`, …'),
  })
  .meta({ id: 'OwnProfile' });
export type OwnProfile = z.infer<typeof OwnProfile>;

export const getOwnProfile = route({
  ...own,
  method: 'GET',
  path: `${at}/profile`,
  operationId: 'getOwnProfile',
  summary: 'Who you are here',
  response: OwnProfile,
});
export const putOwnProfile = route({
  ...own,
  method: 'PUT',
  path: `${at}/profile`,
  operationId: 'putOwnProfile',
  summary: 'Change your names and attributes',
  description: 'What is left out stays. The address is changed at `/account/email`.',
  fresh: true,
  body: z.strictObject({
    firstName: text(255).nullable().optional(),
    lastName: text(255).nullable().optional(),
    attributes: Attributes.optional().describe('Each that is given is replaced; an empty list takes it away'),
  }),
  example: { firstName: 'Ada', lastName: 'Lovelace' },
  response: OwnProfile,
});

export const startEmailChange = route({
  ...own,
  method: 'POST',
  path: `${at}/email`,
  operationId: 'startEmailChange',
  summary: 'Have a code sent to a new e-mail address, or to the one that is not confirmed yet',
  description:
    'The answer is the same where somebody else has the address: they are told, and no code is sent. The link in the mail is for the pages; here it is the code that counts.',
  fresh: true,
  body: z.strictObject({ email: text(254).min(1) }),
  example: { email: 'ada@example.com' },
  status: 202,
  response: z.object({ ticket: z.string().describe('Comes back with the code'), expiresAt: EpochMs }),
  problems: ['forbidden', 'wrong-state', 'too-many-requests'],
});
export const confirmEmailChange = route({
  ...own,
  method: 'PUT',
  path: `${at}/email`,
  operationId: 'confirmEmailChange',
  summary: 'Confirm an e-mail address by the code that was sent there',
  description: 'Wrong codes count with all other failed tries of the person.',
  fresh: true,
  body: z.strictObject({ ticket: text(4096).min(1), code: text(20).min(1) }),
  example: { ticket: 'of the answer before', code: '12345678' },
  status: 204,
});

export const OwnPhone = z
  .object({
    number: z.string().nullable(),
    verified: z.boolean().describe('Codes by SMS go there'),
    mayChange: z.boolean(),
  })
  .meta({ id: 'OwnPhone' });
export const getOwnPhone = route({
  ...own,
  method: 'GET',
  path: `${at}/phone`,
  operationId: 'getOwnPhone',
  summary: 'Your phone number, and whether it is confirmed',
  response: OwnPhone,
});
export const startPhoneChange = route({
  ...own,
  method: 'POST',
  path: `${at}/phone`,
  operationId: 'startPhoneChange',
  summary: 'Have a code sent to a new phone number, or to the one that is not confirmed yet',
  fresh: true,
  body: z.strictObject({ number: text(40).min(1).describe('With its country, as +49 170 1234567') }),
  example: { number: '+491701234567' },
  status: 202,
  response: z.object({ ticket: z.string().describe('Comes back with the code'), expiresAt: EpochMs }),
  problems: ['forbidden', 'wrong-state', 'too-many-requests'],
});
export const confirmPhoneChange = route({
  ...own,
  method: 'PUT',
  path: `${at}/phone`,
  operationId: 'confirmPhoneChange',
  summary: 'Confirm a phone number by the code that was sent there',
  description: 'Wrong codes count with all other failed tries of the person.',
  fresh: true,
  body: z.strictObject({ ticket: text(4096).min(1), code: text(20).min(1) }),
  example: { ticket: 'of the answer before', code: '12345678' },
  status: 204,
});
export const removeOwnPhone = route({
  ...own,
  method: 'DELETE',
  path: `${at}/phone`,
  operationId: 'removeOwnPhone',
  summary: 'Have no more codes sent to your phone number; all other sessions end',
  description: 'The number itself stays in the profile.',
  fresh: true,
  status: 204,
  problems: ['not-found'],
});

export const putOwnPassword = route({
  ...own,
  method: 'PUT',
  path: `${at}/password`,
  operationId: 'putOwnPassword',
  summary: 'Set a new password; all other sessions end',
  fresh: true,
  body: z.strictObject({ password: text(1024).min(1) }),
  example: { password: 'four dry umbrellas' },
  status: 204,
});

export const OwnSession = Session.omit({ userId: true, username: true })
  .extend({ current: z.boolean().describe('The one by which you ask') })
  .meta({ id: 'OwnSession' });
export type OwnSession = z.infer<typeof OwnSession>;

export const listOwnSessions = route({
  ...own,
  method: 'GET',
  path: `${at}/sessions`,
  operationId: 'listOwnSessions',
  summary: 'Where you are signed in, the newest first; at most 100',
  response: z.array(OwnSession),
});
export const endOwnSession = route({
  ...own,
  method: 'DELETE',
  path: `${at}/sessions/:id`,
  operationId: 'endOwnSession',
  summary: 'End a session of yours, with its tokens',
  params: OfOne,
  status: 204,
  problems: ['not-found'],
});
export const endOtherSessions = route({
  ...own,
  method: 'DELETE',
  path: `${at}/sessions`,
  operationId: 'endOtherSessions',
  summary: 'End all your sessions but this one, with their tokens',
  description: 'By a token that hangs on no session, all of them; offline access ends too.',
  status: 204,
});

export const listOwnIdentities = route({
  ...own,
  method: 'GET',
  path: `${at}/identities`,
  operationId: 'listOwnIdentities',
  summary: 'By which identity providers you sign in, and who you are there',
  response: z.array(IdentityLink),
});
export const deleteOwnIdentity = route({
  ...own,
  method: 'DELETE',
  path: `${at}/identities/:id`,
  operationId: 'deleteOwnIdentity',
  summary: 'Disconnect an identity provider; all other sessions end',
  description: 'Refused (409) where it is the last way to say who you are.',
  fresh: true,
  params: OfOne,
  status: 204,
  problems: ['not-found', 'wrong-state', 'last-administrator'],
});

export const OwnBrowser = z
  .object({
    id: z.string(),
    userAgent: z.string().nullable(),
    firstSeenAt: EpochMs,
    lastSeenAt: EpochMs.describe('When you last signed in with it'),
  })
  .meta({ id: 'OwnBrowser' });
export const listOwnBrowsers = route({
  ...own,
  method: 'GET',
  path: `${at}/browsers`,
  operationId: 'listOwnBrowsers',
  summary: 'Browsers that are known to be yours, the last used first; at most 100',
  response: z.array(OwnBrowser),
});
export const forgetOwnBrowser = route({
  ...own,
  method: 'DELETE',
  path: `${at}/browsers/:id`,
  operationId: 'forgetOwnBrowser',
  summary: 'Forget a browser of yours; the next sign-in with it is one on a new device',
  fresh: true,
  params: z.strictObject({ realm: RealmName, id: z.string().regex(/^[0-9a-f]{64}$/, 'must be an id of the list') }),
  status: 204,
  problems: ['not-found'],
});

export const OwnAgent = z
  .object({
    id: Id,
    name: z.string(),
    description: z.string().nullable(),
    status: z.enum(['draft', 'active', 'suspended', 'revoked']),
    because: z
      .enum(['owner', 'consent'])
      .describe(
        'You answer for it; or it is another’s, and acts for you by a consent of yours, which `/account/gdpr/consents` takes back',
      ),
    clientId: z.string().nullable().describe('The client by which it acts'),
    reviewDueAt: EpochMs.nullable().describe('It is suspended unless you or an administrator confirmed it until then'),
  })
  .meta({ id: 'OwnAgent' });
export type OwnAgent = z.infer<typeof OwnAgent>;
export const OwnApplication = z
  .object({
    name: z.string(),
    displayName: z.string().nullable(),
    description: z.string().nullable(),
    url: z.string().nullable().describe('Where it is opened'),
    iconUrl: z.string().nullable(),
  })
  .meta({ id: 'OwnApplication' });
export type OwnApplication = z.infer<typeof OwnApplication>;
export const listOwnApplications = route({
  ...own,
  method: 'GET',
  path: `${at}/applications`,
  operationId: 'listOwnApplications',
  summary: 'Applications that you may use; at most 500',
  description:
    'Those that are enabled and visible, and for everybody or for one of your roles, by their shown names. What you have allowed them is at `/account/gdpr/consents`.',
  response: z.array(OwnApplication),
});

export const listOwnAgents = route({
  ...own,
  method: 'GET',
  path: `${at}/agents`,
  operationId: 'listOwnAgents',
  summary: 'Agents that act for you: yours, and others’ that you let act; at most 100',
  response: z.array(OwnAgent),
});
export const suspendOwnAgent = route({
  ...own,
  method: 'POST',
  path: `${at}/agents/:id/suspend`,
  operationId: 'suspendOwnAgent',
  summary: 'Stop an agent of yours',
  description: 'One that is stopped already stays so.',
  params: OfOne,
  status: 204,
  problems: ['not-found'],
});

export const revokeOwnAgent = route({
  ...own,
  method: 'POST',
  path: `${at}/agents/:id/revoke`,
  operationId: 'revokeOwnAgent',
  summary: 'End an agent of yours for good',
  description: 'Nobody can let it act again. Refused (409) where it is revoked already.',
  fresh: true,
  params: OfOne,
  status: 204,
  problems: ['not-found', 'wrong-state'],
});
export const reviewOwnAgent = route({
  ...own,
  method: 'POST',
  path: `${at}/agents/:id/review`,
  operationId: 'reviewOwnAgent',
  summary: 'Confirm that an agent of yours is still needed',
  description: 'Its next review is due a whole interval from now. Refused (409) where it isn’t active or has expired.',
  fresh: true,
  params: OfOne,
  status: 204,
  problems: ['not-found', 'wrong-state'],
});

export const OwnActivity = z
  .object({
    type: z.string().describe('The event’s type'),
    field: z
      .enum(['email'])
      .nullable()
      .describe('Of `USER_UPDATED`: the address was changed or confirmed; null: something else'),
    occurredAt: EpochMs,
    count: z
      .int()
      .describe(
        'More than one: so many failed sign-ins (`LOGIN_FAILURE`) of one day in a row, of which this is the last',
      ),
    firstOccurredAt: EpochMs.describe('Of the first of them'),
    ipAddress: z.string().nullable().describe('Null too where they came from several'),
    clientId: z.string().nullable(),
    byOther: z.boolean().describe('Somebody else did it: an administrator, the server'),
  })
  .meta({ id: 'OwnActivity' });
export const listOwnActivity = route({
  ...own,
  method: 'GET',
  path: `${at}/activity`,
  operationId: 'listOwnActivity',
  summary: 'What happened to your account, the newest first',
  description: 'Failed sign-ins of one day, between which nothing else happened, are one row.',
  query: Page.extend({ limit: z.coerce.number().int().min(1).max(100).default(20).describe('At most this many rows') }),
  response: z.array(OwnActivity),
});

export const eraseOwnAccount = route({
  ...own,
  method: 'DELETE',
  path: at,
  operationId: 'eraseOwnAccount',
  summary: 'Delete your account and what belongs to it; it cannot be undone',
  fresh: true,
  query: z.strictObject({ username: text(255).describe('Your own, so that nothing is deleted by mistake') }),
  status: 204,
  problems: ['too-many-requests', 'last-administrator'],
});
