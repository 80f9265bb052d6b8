// Owns: the console as administrators with different roles see it: nothing that the API would refuse, and every list that it allows.
// Does not own: what a permission is needed for (guards/permissions.test.ts).
// Implements: decisions "Console" (navigation shows what the permissions allow).
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { declaredEntries } from '../../console/generated/kinds.ts';
import { writtenOut } from '../../console/kinds/written-out.ts';
import { putUserAdminRoles } from '../../server/contract/admin-access.ts';
import { createAdminRole } from '../../server/contract/admin-roles.ts';
import { builtInAdminRoles, type Permission } from '../../server/contract/permissions.ts';
import { createUser, setPassword } from '../../server/contract/users.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { walkConsole } from '../support/console-walk.ts';
import { oneOfEach } from '../support/one-of-each.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../support/server.ts';

const realm = 'acme';
const params = { realm };
let server: TestServer;
let browser: Browser;

interface Role {
  name: string;
  permissions: Permission[];
  groups?: string[];
  clients?: string[];
}
const builtIn: Role[] = Object.entries(builtInAdminRoles).map(([name, permissions]) => ({
  name,
  permissions: [...permissions],
}));
const madeUp: Role[] = [
  { name: 'help-desk', permissions: ['users:read', 'users:write', 'sessions:read', 'sessions:write', 'events:read'] },
  { name: 'help-desk-of-one-group', permissions: ['users:read', 'users:write', 'groups:read'], groups: ['/staff'] },
  { name: 'owner-of-one-application', permissions: ['clients:read', 'clients:write'], clients: ['app'] },
  { name: 'flow-author', permissions: ['flows:read', 'flows:write', 'settings:read'] },
  {
    name: 'mail-author',
    permissions: ['messaging:read', 'messaging:write', 'message-texts:read', 'message-texts:write'],
  },
  {
    name: 'integrator',
    permissions: ['webhooks:read', 'webhooks:write', 'scim-targets:read', 'workload-identity:read'],
  },
  { name: 'pipeline', permissions: ['realm:plan', 'realm:read', 'managers:read', 'holds:read', 'holds:write'] },
  { name: 'reader-of-events', permissions: ['events:read'] },
];

beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  await oneOfEach(server, realm);
  for (const { name, ...of } of madeUp) await server.admin.call(createAdminRole, { params, body: { name, ...of } });
  for (const { name } of [...builtIn, ...madeUp]) {
    const user = (await server.admin.call(createUser, { params, body: { username: name } })).body;
    const at = { realm, userId: user?.id ?? '' };
    await server.admin.call(setPassword, { params: at, body: { password: ADMIN_PASSWORD, temporary: false } });
    await server.admin.call(putUserAdminRoles, { params: at, body: { grants: [{ role: name, realm }] } });
  }
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** Kinds that "Look and texts" leads to. */
const UNDER_LOOK = new Set(['messageTemplates', 'messageTexts']);

test.each([...builtIn, ...madeUp])('$name sees what the role allows, and nothing that is refused', async (role) => {
  const as = { username: role.name, password: ADMIN_PASSWORD, realm };
  const console = await openConsole({ server, browser }, { as });
  const refused: string[] = [];
  console.page.on('response', (answer) => {
    const status = answer.status();
    if (status === 401 || status === 403 || status >= 500)
      refused.push(`${console.page.url()}: ${answer.request().method()} ${answer.url()} ${status}`);
  });
  const wrong: string[] = [];
  const mayWrite = (permission: Permission | null) => permission !== null && role.permissions.includes(permission);
  const lists = new Map(
    [...declaredEntries, ...writtenOut].filter(({ ofClient }) => !ofClient).map((entry) => [`/${entry.path}`, entry]),
  );
  const pages = await walkConsole(console, realm, async ({ name, page }) => {
    const complaints = console.complaints();
    if (complaints.length > 0) wrong.push(`${name}: ${complaints.join(' ')}`);
    const list = lists.get(name);
    if (!list || role.groups || role.clients || list.section === 'authorizationServices') return;
    const creates =
      (await page
        .getByRole('main')
        .getByRole('link', { name: /^(Create|New|Add|Invite|Import)\b/ })
        .count()) > 0;
    if (creates !== mayWrite(list.write)) wrong.push(`${name}: ${creates ? 'offers' : 'does not offer'} to create`);
  });
  expect(refused, 'what the API refused').toEqual([]);
  expect(wrong).toEqual([]);
  const readable = [...lists.values()].filter(({ read }) => read === null || role.permissions.includes(read));
  const limited = role.groups ? ['/users', '/groups'] : role.clients ? ['/clients'] : undefined;
  const inNavigation = readable.map(({ section, path }) => (UNDER_LOOK.has(section) ? '/look' : `/${path}`));
  expect(pages).toEqual(expect.arrayContaining(limited ?? inNavigation));
  await console.close();
});
