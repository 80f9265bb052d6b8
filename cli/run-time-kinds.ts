// The kinds of run-time data, of which a realm may have any number, as `get` and `describe` show them.
import { type Event, listEvents } from '../server/contract/events.ts';
import { listExpiring, listUnusedClients } from '../server/contract/expiring.ts';
import {
  createInvitation,
  type Invitation,
  listInvitations,
  revokeInvitation,
} from '../server/contract/invitations.ts';
import { deletePushToken, listMessages, listPushTokens, registerPushToken } from '../server/contract/messages.ts';
import {
  createInitialAccessToken,
  deleteInitialAccessToken,
  listInitialAccessTokens,
} from '../server/contract/provisioning.ts';
import { createScimToken, deleteScimToken, listScimTokens } from '../server/contract/scim-tokens.ts';
import { endSession, listSessions } from '../server/contract/sessions.ts';
import { listSignalStreams } from '../server/contract/signal-receivers.ts';
import { createUser, deleteUser, getUser, listUsers, putUser } from '../server/contract/users.ts';
import { listAllDeliveries, listDeliveries } from '../server/contract/webhooks.ts';
import { list, party, text, time, yes } from './cells.ts';
import { idIn } from './declared-kinds.ts';
import { type Kind, kind } from './kinds.ts';

/** As the server compares usernames: é is one letter or two. */
const foldedName = (name: string): string => name.normalize('NFKC').toLowerCase();

export const users = kind({
  plural: 'users',
  singular: 'user',
  help: 'people',
  inRealm: true,
  many: true,
  searches: true,
  routes: { list: listUsers, get: getUser, create: createUser, put: putUser, remove: deleteUser },
  at: ({ id }) => ({ userId: id }),
  nameOf: ({ username }) => username,
  is: ({ username, id }, word) => foldedName(username) === foldedName(word) || id === word,
  columns: [
    { head: 'USERNAME', cell: (u) => u.username },
    { head: 'E-MAIL', cell: (u) => text(u.email) },
    { head: 'NAME', cell: (u) => [u.firstName, u.lastName].filter(Boolean).join(' ') },
    { head: 'ENABLED', cell: (u) => yes(u.enabled) },
    { head: 'CREATED', cell: (u) => time(u.createdAt) },
    { head: 'ROLES', cell: (u) => list(u.roles), wide: true },
    { head: 'GROUPS', cell: (u) => list(u.groups), wide: true },
    { head: 'MUST', cell: (u) => list(u.requiredActions), wide: true },
    { head: 'ID', cell: (u) => u.id, wide: true },
  ],
});

/** When the mail server took an invitation's message, else why it has not. */
function mailed({ mailStatus, mailError, mailedAt }: Invitation): string {
  if (mailStatus === 'sent') return time(mailedAt);
  const said = mailStatus === 'none' ? 'no' : mailStatus;
  return mailError === null ? said : `${said}: ${mailError}`;
}

const invitations = kind({
  plural: 'invitations',
  singular: 'invitation',
  help: 'who was invited and has not come yet',
  inRealm: true,
  many: true,
  routes: { list: listInvitations, create: createInvitation, remove: revokeInvitation },
  nameOf: ({ id }) => id,
  columns: [
    { head: 'INVITATION', cell: (i) => i.id },
    { head: 'E-MAIL', cell: (i) => i.email },
    { head: 'ORGANIZATION', cell: (i) => text(i.organization) },
    { head: 'MAILED', cell: mailed },
    { head: 'EXPIRES', cell: (i) => time(i.expiresAt) },
    // only the response to its creation contains the link
    { head: 'LINK', cell: (i) => text('link' in i && typeof i.link === 'string' ? i.link : null), wide: true },
  ],
});

const expiring = kind({
  plural: 'expiring',
  singular: 'expiring-thing',
  help: 'what ends within 30 days: secrets, certificates, invitations, tokens, agents and their reviews',
  inRealm: true,
  routes: { list: listExpiring },
  nameOf: ({ kind: what, name }) => `${what}/${name}`,
  columns: [
    { head: 'WHAT', cell: (e) => e.kind },
    { head: 'NAME', cell: (e) => e.name },
    { head: 'ENDS', cell: (e) => time(e.expiresAt) },
    { head: 'ENDED', cell: (e) => yes(e.expired) },
    { head: 'MEANING', cell: (e) => e.message, wide: true },
    { head: 'ID', cell: (e) => e.id, wide: true },
  ],
});

const unusedClients = kind({
  plural: 'unused-clients',
  singular: 'unused-client',
  help: 'clients that got no token for 90 days',
  inRealm: true,
  routes: { list: listUnusedClients },
  nameOf: ({ clientId }) => clientId,
  columns: [
    { head: 'CLIENT', cell: (c) => c.clientId },
    { head: 'NAME', cell: (c) => text(c.name) },
    { head: 'ENABLED', cell: (c) => yes(c.enabled) },
    { head: 'LAST USED', cell: (c) => time(c.lastUsedAt) },
    { head: 'COUNTED SINCE', cell: (c) => time(c.countedSince) },
    { head: 'ID', cell: (c) => c.id, wide: true },
  ],
});

const deliveries = kind({
  plural: 'deliveries',
  singular: 'delivery',
  help: 'what was sent to a webhook, or to all, newest first',
  inRealm: true,
  of: 'webhook',
  many: true,
  parent: idIn('webhooks'),
  routes: { list: listDeliveries },
  ofAny: listAllDeliveries,
  nameOf: ({ id }) => id,
  columns: [
    { head: 'TIME', cell: (d) => time(d.createdAt) },
    { head: 'EVENT', cell: (d) => d.eventType },
    { head: 'STATUS', cell: (d) => d.status },
    { head: 'TRIES', cell: (d) => String(d.attempts) },
    { head: 'ANSWER', cell: (d) => text(d.error) || String(d.responseStatus ?? '') },
    { head: 'LAST TRY', cell: (d) => time(d.lastAttemptAt), wide: true },
    { head: 'WEBHOOK ID', cell: (d) => d.webhookId, wide: true },
    { head: 'ID', cell: (d) => d.id, wide: true },
  ],
});

const signalStreams = kind({
  plural: 'signal-streams',
  singular: 'signal-stream',
  help: 'the streams of a signal receiver, with what waits and what failed',
  inRealm: true,
  of: 'signal-receiver',
  many: true,
  parent: idIn('signalReceivers'),
  routes: { list: listSignalStreams },
  nameOf: ({ id }) => id,
  columns: [
    { head: 'STREAM', cell: (s) => s.id },
    { head: 'WAY', cell: (s) => s.method },
    { head: 'STATUS', cell: (s) => s.status },
    { head: 'EVENTS', cell: (s) => list(s.events) },
    { head: 'WAITING', cell: (s) => String(s.waiting) },
    { head: 'FAILED', cell: (s) => String(s.failed) },
    { head: 'DELIVERED', cell: (s) => time(s.lastDeliveredAt) },
    { head: 'ERROR', cell: (s) => text(s.lastError) },
    { head: 'FORMAT', cell: (s) => s.format, wide: true },
    { head: 'ADDRESS', cell: (s) => text(s.endpointUrl), wide: true },
  ],
});

export const sessions = kind({
  plural: 'sessions',
  singular: 'session',
  help: 'live sign-in sessions, newest first',
  inRealm: true,
  many: true,
  routes: { list: listSessions, remove: endSession },
  nameOf: ({ id }) => id,
  columns: [
    { head: 'SESSION', cell: (s) => s.id },
    { head: 'USER', cell: (s) => s.username },
    { head: 'FROM', cell: (s) => text(s.ipAddress) },
    { head: 'STARTED', cell: (s) => time(s.startedAt) },
    { head: 'LAST SEEN', cell: (s) => time(s.lastSeenAt) },
    { head: 'IMPERSONATED BY', cell: (s) => text(s.impersonator) },
    { head: 'EXPIRES', cell: (s) => time(s.expiresAt), wide: true },
    { head: 'ASSURANCE', cell: (s) => String(s.levelOfAssurance), wide: true },
    { head: 'CLIENTS', cell: (s) => list(s.clients), wide: true },
    { head: 'BROWSER', cell: (s) => text(s.userAgent), wide: true },
  ],
});

/** Why something was refused or failed: a sign-in's wrong password, a token request's invalid grant. */
export const whyOf = ({ outcome, data }: Event): string => {
  if (outcome === 'success') return '';
  const { reason, error } = data;
  const said = [reason, error].find((one) => typeof one === 'string' && one !== '');
  return typeof said === 'string' ? said : '';
};

export const events = kind({
  plural: 'events',
  singular: 'event',
  help: 'the audit log, newest first',
  inRealm: true,
  many: true,
  routes: { list: listEvents },
  nameOf: ({ id }) => id,
  columns: [
    { head: 'TIME', cell: (e) => time(e.occurredAt) },
    { head: 'TYPE', cell: (e) => e.type },
    { head: 'OUTCOME', cell: (e) => e.outcome },
    // a rejected sign-in has no user as actor: the client is shown instead
    { head: 'BY', cell: (e) => party(e.actor) || (e.clientId === null ? '' : `client ${e.clientId}`) },
    { head: 'ON', cell: (e) => party(e.subject) },
    { head: 'FROM', cell: (e) => text(e.ipAddress) },
    { head: 'WHY', cell: whyOf },
    { head: 'CLIENT', cell: (e) => text(e.clientId), wide: true },
    { head: 'DATA', cell: (e) => JSON.stringify(e.data), wide: true },
  ],
});

/** The token in the response to its creation; it is never shown again. */
const tokenOf = (made: object): string => text(Reflect.get(made, 'token') ?? null);

const scimTokens = kind({
  plural: 'scim-tokens',
  singular: 'scim-token',
  help: 'by which other systems keep people and groups, over SCIM',
  inRealm: true,
  routes: { list: listScimTokens, create: createScimToken, remove: deleteScimToken },
  nameOf: ({ name }) => name,
  is: ({ name, id }, word) => name === word || id === word,
  columns: [
    { head: 'NAME', cell: (t) => t.name },
    { head: 'MAY', cell: (t) => list(t.permissions) },
    { head: 'CREATED', cell: (t) => time(t.createdAt) },
    { head: 'EXPIRES', cell: (t) => time(t.expiresAt) },
    { head: 'LAST USED', cell: (t) => time(t.lastUsedAt) },
    { head: 'TOKEN', cell: (t) => tokenOf(t) || 'was shown once' },
    { head: 'ID', cell: (t) => t.id, wide: true },
  ],
});

const initialAccessTokens = kind({
  plural: 'initial-access-tokens',
  singular: 'initial-access-token',
  help: 'by which clients register themselves',
  inRealm: true,
  routes: {
    list: listInitialAccessTokens,
    create: createInitialAccessToken,
    remove: deleteInitialAccessToken,
  },
  nameOf: ({ id }) => id,
  columns: [
    { head: 'ID', cell: (t) => t.id },
    { head: 'USES LEFT', cell: (t) => String(t.usesLeft) },
    { head: 'CREATED', cell: (t) => time(t.createdAt) },
    { head: 'EXPIRES', cell: (t) => time(t.expiresAt) },
    { head: 'TOKEN', cell: (t) => tokenOf(t) || 'was shown once' },
  ],
});

const messages = kind({
  plural: 'messages',
  singular: 'message',
  help: 'what was sent to people, newest first, and never what it says',
  inRealm: true,
  many: true,
  routes: { list: listMessages },
  nameOf: ({ id }) => id,
  columns: [
    { head: 'TIME', cell: (m) => time(m.createdAt) },
    { head: 'CHANNEL', cell: (m) => m.channel },
    { head: 'MESSAGE', cell: (m) => m.templateKey },
    { head: 'TO', cell: (m) => m.recipient },
    { head: 'STATUS', cell: (m) => m.status },
    { head: 'ANSWER', cell: (m) => text(m.error) },
    { head: 'TRIES', cell: (m) => String(m.attempts), wide: true },
    { head: 'ID', cell: (m) => m.id, wide: true },
  ],
});

const pushTokens = kind({
  plural: 'push-tokens',
  singular: 'push-token',
  help: 'devices that push messages reach, newest first',
  inRealm: true,
  many: true,
  routes: { list: listPushTokens, create: registerPushToken, remove: deletePushToken },
  nameOf: ({ id }) => id,
  columns: [
    { head: 'ID', cell: (t) => t.id },
    { head: 'DEVICE', cell: (t) => text(t.deviceName) },
    { head: 'PLATFORM', cell: (t) => t.platform },
    { head: 'USER', cell: (t) => t.userId },
    { head: 'CREATED', cell: (t) => time(t.createdAt) },
    { head: 'LAST USED', cell: (t) => time(t.lastUsedAt) },
  ],
});

export const runTimeKinds: readonly Kind[] = [
  users,
  invitations,
  sessions,
  events,
  deliveries,
  signalStreams,
  messages,
  pushTokens,
  scimTokens,
  initialAccessTokens,
  expiring,
  unusedClients,
];
