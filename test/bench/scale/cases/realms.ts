// Requests in an installation with many realms.

import { flows } from '../../flows.ts';
import { basic } from '../../steps.ts';
import { connect } from '../../wire.ts';
import { copyOf, GROWN_REALM, TEMPLATE } from '../fill.ts';
import { adminCase, read, requestCase, type ScaleCase } from '../growth.ts';

const RARE = copyOf(5);

export const realmCases: readonly ScaleCase[] = [
  adminCase('realms-page', 'realms: a page', '/admin/realms?limit=5'),
  requestCase('realms-unchanged', 'realms: a conditional request, nothing changed', async ({ admin }) => {
    const { headers } = await admin('/admin/realms?limit=5');
    const tag = headers.get('etag') ?? '';
    return () => read(admin('/admin/realms?limit=5', { headers: { 'if-none-match': tag } }), 304);
  }),
  adminCase('realms-q-one', 'realms: a search that finds one', `/admin/realms?limit=5&q=${RARE}`),
  adminCase('realms-q-many', 'realms: a search that finds nearly all', '/admin/realms?limit=5&q=tenant'),
  adminCase('realms-q-none', 'realms: a search that finds none', '/admin/realms?limit=5&q=nobody-at-all'),
  adminCase('realm', 'one realm', `/admin/realms/${RARE}`),
  adminCase('search-realm', 'search over everything: a realm’s name', `/admin/search?limit=5&q=${RARE}`),
  requestCase(
    'search-user',
    'search over everything: one user’s name',
    ({ admin, size }) =>
      () =>
        read(admin(`/admin/search?limit=5&q=user-${size.users}`)),
  ),
  adminCase(
    'search-everywhere',
    'search over everything: a name that each realm has',
    '/admin/search?limit=5&q=person-7',
  ),
  adminCase('search-none', 'search over everything: a name that none has', '/admin/search?limit=5&q=nobody-at-all'),
  adminCase(
    'search-clients',
    'search over everything: clients that each realm has',
    '/admin/search?limit=5&q=service-003&kinds=client',
  ),
  adminCase('diagnostics', 'diagnostics', '/admin/diagnostics'),
  adminCase('summary', 'the server’s metrics in sums', '/admin/metrics/summary'),
  requestCase(
    'realm-create',
    'a realm is created',
    ({ admin }) =>
      () =>
        read(
          admin('/admin/realms', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ realm: `made-${crypto.randomUUID().slice(0, 18)}` }),
          }),
          201,
        ),
  ),
  requestCase(
    'discovery',
    'discovery of a realm',
    ({ baseUrl }) =>
      () =>
        read(fetch(`${baseUrl}/realms/${TEMPLATE}/.well-known/openid-configuration`)),
  ),
  requestCase(
    'token',
    'a client’s token',
    ({ baseUrl, realm: { clients, secret } }) =>
      (turn) =>
        read(
          fetch(`${baseUrl}/realms/${GROWN_REALM}/oauth2/token`, {
            method: 'POST',
            headers: basic(clients[turn % clients.length] ?? '', secret),
            body: new URLSearchParams({ grant_type: 'client_credentials' }),
          }),
        ),
  ),
  ...(['login', 'code', 'refresh'] as const).map((flow) =>
    requestCase(
      flow,
      { login: 'a sign-in by password', code: 'a code for tokens', refresh: 'a refresh' }[flow],
      async ({ port, realm }) => {
        const prepared = await flows[flow](await connect(port), 1, { realm });
        if (!('step' in prepared)) throw new Error(`${flow} has no steps`);
        return async () => {
          await prepared.stock?.(1);
          await prepared.step();
        };
      },
    ),
  ),
];
