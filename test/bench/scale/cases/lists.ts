// Requests of the admin API and of SCIM in a realm that has grown: pages, filters and searches, single things.
import { personId } from '../../../support/grown.ts';
import { GROWN_REALM } from '../fill.ts';
import { adminCase, read, requestCase, type ScaleCase } from '../growth.ts';

const realm = `/admin/realms/${GROWN_REALM}`;
/** A user and a client of both installations, one of a busy group, role and organization. */
const SOME = 6;
const DAY_MS = 86_400_000;

const list = (name: string, title: string, at: string): ScaleCase => adminCase(name, title, `${realm}${at}`);

const scim = (name: string, title: string, at: string): ScaleCase =>
  requestCase(name, title, (side) => () => read(side.scim(at)));

export const userCases: readonly ScaleCase[] = [
  list('users-page', 'users: a page', '/users?limit=10'),
  list('users-locked', 'users: those locked', '/users?limit=10&locked=true'),
  list('users-disabled', 'users: those disabled', '/users?limit=1&enabled=false'),
  // The last of them: a name that no other contains.
  requestCase(
    'users-q-one',
    'users: a search that finds one',
    ({ admin, size }) =>
      () =>
        read(admin(`${realm}/users?limit=10&q=last${size.users}`)),
  ),
  list('users-q-many', 'users: a search that finds nearly all', '/users?limit=10&q=first'),
  list('users-q-none', 'users: a search that finds none', '/users?limit=10&q=nobody-at-all'),
  list('users-email', 'users: by address', '/users?limit=10&email=user-77@people.example'),
  list('users-role', 'users: of a role that half of them have', '/users?limit=10&role=grown'),
  list('users-group', 'users: of a group that half of them are in', '/users?limit=10&group=/grown'),
  list('users-organization', 'users: of an organization of half of them', '/users?limit=10&organization=grown'),
  list('group-members', 'a page of that group’s members', `/groups/${personId(1)}/members?limit=10`),
  list(
    'organization-members',
    'a page of that organization’s members',
    `/organizations/${personId(1)}/members?limit=10`,
  ),
  list('user', 'one user', `/users/${personId(SOME)}`),
  list('user-report', 'a user’s sign-in report', `/users/${personId(SOME)}/sign-in-report`),
  list('user-sessions', 'a user’s sessions', `/users/${personId(8)}/sessions?limit=10`),
  list('sessions', 'sessions: a page', '/sessions?limit=10'),
  list('sessions-client', 'sessions of an application', '/sessions?limit=1&clientId=grown-5'),
  list('messages', 'messages: a page', '/messaging/messages?limit=10'),
  list('invitations', 'invitations: a page', '/invitations?limit=10'),
  list('counts', 'counts of the dashboard', '/statistics/counts'),
  requestCase('user-create', 'a user is created', ({ admin }) => async () => {
    const username = `made-${crypto.randomUUID()}`;
    const body = JSON.stringify({ username, email: `${username}@people.example` });
    await read(admin(`${realm}/users`, { method: 'POST', headers: { 'content-type': 'application/json' }, body }), 201);
  }),
  scim('scim-name', 'SCIM: by userName', `/Users?count=10&filter=${encodeURIComponent('userName eq "user-77"')}`),
  scim('scim-page', 'SCIM: a page', '/Users?count=10'),
  scim('scim-user', 'SCIM: one user', `/Users/${personId(SOME)}`),
];

export const eventCases: readonly ScaleCase[] = [
  list('events-page', 'events: a page', '/events?limit=10'),
  list('events-type', 'events: of a type', '/events?limit=10&type=LOGIN_FAILURE'),
  list('events-type-none', 'events: of a type that has none', '/events?limit=10&type=USER_DELETED'),
  list('events-user', 'events: of a user', `/events?limit=10&userId=${personId(SOME)}`),
  list('events-actor', 'events: by an actor’s name', '/events?limit=10&actor=busy'),
  list('events-client', 'events: of a client', '/events?limit=10&clientId=grown-5'),
  list('events-address', 'events: of an address', '/events?limit=10&ipAddress=192.0.2.1'),
  list('events-outcome', 'events: that failed', '/events?limit=10&outcome=failure'),
  adminCase(
    'events-time',
    'events: of a day, long ago',
    () => `${realm}/events?limit=10&from=${Date.now() - 51 * DAY_MS}&to=${Date.now() - 50 * DAY_MS}`,
  ),
  list('series-hours', 'dashboard: series by the hour', '/statistics?step=hour'),
  list('series-days', 'dashboard: series by the day', '/statistics?step=day'),
  list('series-clients', 'dashboard: the busiest clients', '/statistics/clients?step=day&limit=10'),
  list('history', 'history of the configuration', '/history?limit=10'),
];

export const clientCases: readonly ScaleCase[] = [
  list('clients-page', 'clients: a page', '/clients?limit=10'),
  list('clients-managed', 'clients: a page with managers', '/clients?limit=10&with=managedBy'),
  list('clients-q-one', 'clients: a search that finds few', '/clients?limit=10&q=grown-7'),
  list('clients-q-many', 'clients: a search that finds nearly all', '/clients?limit=5&q=grown'),
  list('clients-q-none', 'clients: a search that finds none', '/clients?limit=10&q=nobody-at-all'),
  list('clients-unused', 'unused clients, of which there are none', '/unused-clients?limit=10&days=30'),
  list('client', 'one client', `/clients/${personId(SOME)}`),
  list('expiring', 'what ends soon', '/expiring?days=30&limit=10'),
  list('roles-page', 'roles: a page', '/roles?limit=10'),
  list('roles-q-one', 'roles: a search that finds few', '/roles?limit=10&q=named-7'),
  list('roles-q-none', 'roles: a search that finds none', '/roles?limit=10&q=nobody-at-all'),
  list('groups-page', 'groups: a page', '/groups?limit=10'),
  list('groups-q-one', 'groups: a search that finds few', '/groups?limit=10&q=named-7'),
  list('groups-q-none', 'groups: a search that finds none', '/groups?limit=10&q=nobody-at-all'),
  list('organizations-page', 'organizations: a page', '/organizations?limit=10'),
  list('organizations-q-one', 'organizations: a search that finds few', '/organizations?limit=10&q=number 7'),
  list('organizations-q-none', 'organizations: a search that finds none', '/organizations?limit=10&q=nobody-at-all'),
];
