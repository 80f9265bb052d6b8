// Owns: the console's pages of groups, organizations, agents, authorization services and admin roles.
// Does not own: the generic pages (kinds.test.ts), flows (flows.test.ts).
// Implements: decisions "Console": groups as a tree with members and roles; domains, members and invitations of organizations;
// reviews of agents; an evaluation beside the policies; grants of admin roles.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { getUserAdminRoles, putUserAdminRoles } from '../../server/contract/admin-access.ts';
import { createAgent, getAgent } from '../../server/contract/agents.ts';
import {
  createAuthorizationScope,
  deleteAuthorizationScope,
  getAuthorizationService,
} from '../../server/contract/authorization-service-routes.ts';
import { createClient } from '../../server/contract/clients.ts';
import { createGroup, listGroups } from '../../server/contract/groups.ts';
import { listInvitations } from '../../server/contract/invitations.ts';
import { listGroupMembers } from '../../server/contract/memberships.ts';
import { createOrganization, listMembers } from '../../server/contract/organizations.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { createRole } from '../../server/contract/roles.ts';
import { createUser } from '../../server/contract/users.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
const realm = 'acme';
const params = { realm };
const VIEWER = { username: 'vera', password: 'vera may only look', realm };
const HOSTILE = `"><img src=x onerror="globalThis.hacked=1">`;
let ada = '';
beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm, displayName: 'Acme' } });
  const made = await server.admin.call(createUser, {
    params,
    body: { username: 'ada', email: 'ada@example.com', firstName: 'Ada', lastName: HOSTILE },
  });
  ada = made.body?.id ?? '';
  const viewer = await server.admin.call(createUser, {
    params,
    body: { username: VIEWER.username, password: VIEWER.password },
  });
  await server.admin.call(putUserAdminRoles, {
    params: { realm, userId: viewer.body?.id ?? '' },
    body: { grants: [{ role: 'realm-viewer', realm }] },
  });
  await server.admin.call(createRole, { params, body: { name: 'editor' } });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test('groups are a tree; members are added and taken out, a role is given after the plan', async () => {
  const top = await server.admin.call(createGroup, { params, body: { name: 'engineering' } });
  await server.admin.call(createGroup, { params, body: { name: 'platform', parentId: top.body?.id ?? '' } });
  await server.admin.call(createGroup, { params, body: { name: HOSTILE.replaceAll('/', ' ') } });
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/groups`);
  await heading('Groups');
  const tree = page.getByRole('treegrid', { name: 'Groups' });
  await tree.getByRole('row', { name: 'engineering' }).waitFor();
  await look('groups');
  expect(await tree.getByRole('row', { name: 'platform' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Open all' }).click();
  await tree.getByRole('row', { name: 'platform' }).click();
  await heading('/engineering/platform');
  await page.getByRole('link', { name: 'Members' }).click();
  await page.getByText('No user is in this group itself').waitFor();
  await page.getByRole('button', { name: 'Add a user' }).click();
  await page.getByRole('dialog').getByRole('combobox', { name: 'User' }).fill('ada');
  await page.getByRole('option', { name: /ada/ }).click();
  await look('a user for a group');
  await page.getByRole('button', { name: 'Add the user' }).click();
  await page.getByRole('row', { name: /ada/ }).waitFor();
  await look('members of a group');
  const id = (await server.admin.call(listGroups, { params, query: { q: 'platform' } })).body?.[0]?.id ?? '';
  expect((await server.admin.call(listGroupMembers, { params: { realm, id } })).body).toHaveLength(1);
  const ada = page.getByRole('row', { name: /ada/ });
  // the list is read anew meanwhile, which may take the focus from the box before the key comes
  await expect
    .poll(async () => {
      if ((await ada.getAttribute('aria-selected')) !== 'true') await ada.getByRole('checkbox').press('Space');
      return ada.getAttribute('aria-selected');
    })
    .toBe('true');
  await page.getByRole('button', { name: 'Take the user out' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Take out' }).click();
  await page.getByText('No user is in this group itself').waitFor();

  await page.getByRole('link', { name: 'Roles', exact: true }).last().click();
  await page.getByRole('button', { name: 'Give a role' }).click();
  await page.getByRole('dialog').getByRole('combobox', { name: 'Role' }).fill('editor');
  await page.getByRole('option', { name: 'editor' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Review' }).click();
  const review = page.getByRole('dialog', { name: 'Give the role editor' });
  await review.getByText('/engineering/platform').first().waitFor();
  await review.getByRole('button', { name: 'Give the role' }).click();
  await page.getByRole('row', { name: /editor/ }).waitFor();
  await look('roles of a group');
  expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
  await close();
});

test('a change of a group is saved after its plan, a move after its fields alone, because no document says it', async () => {
  const { body: group } = await server.admin.call(createGroup, { params, body: { name: 'field' } });
  const { page, open, heading, close } = await openConsole({ server, browser });
  const edit = `/realms/${realm}/groups/${group?.id}/edit`;
  await open(edit);
  await page.getByRole('switch', { name: 'Default' }).press('Space');
  await page.getByRole('button', { name: 'Review and save' }).click();
  const review = page.getByRole('dialog', { name: 'Save /field' });
  await review.locator('.plan-change').getByText('/field', { exact: true }).waitFor();
  await review.getByRole('button', { name: 'Save' }).click();
  await heading('/field');
  await open(edit);
  await page.getByRole('textbox', { name: 'Name' }).fill('fields');
  await page.getByRole('button', { name: 'Review and save' }).click();
  await review.locator('.plan-change').getByText('name', { exact: true }).waitFor();
  expect(await review.getByText('/field', { exact: true }).count()).toBe(0);
  await review.getByRole('button', { name: 'Save' }).click();
  await heading('/fields');
  const { body: [saved] = [] } = await server.admin.call(listGroups, { params, query: { q: '/fields' } });
  expect(saved).toMatchObject({ id: group?.id, path: '/fields', default: true });
  await close();
});

test('an organization: members, a domain that the DNS doesn’t prove, an invitation whose link is shown once', async () => {
  const made = await server.admin.call(createOrganization, {
    params,
    body: { name: 'partner', domains: [{ name: 'partner.invalid' }] },
  });
  const id = made.body?.id ?? '';
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/organizations/${id}?tab=members`);
  await heading('partner');
  await page.getByRole('button', { name: 'Add a member' }).click();
  await page.getByRole('dialog').getByRole('combobox', { name: 'User' }).fill('ada');
  await page.getByRole('option', { name: /ada/ }).click();
  await page.getByRole('button', { name: 'Add the member' }).click();
  await page.getByRole('row', { name: /ada/ }).waitFor();
  await look('members of an organization');
  expect((await server.admin.call(listMembers, { params: { realm, id } })).body).toHaveLength(1);

  await page.getByRole('link', { name: 'Domains' }).click();
  await page.getByRole('button', { name: 'Verify now' }).click();
  await page.getByText('TXT', { exact: true }).waitFor();
  await look('a domain without its record');

  await page.getByRole('link', { name: 'Invitations' }).click();
  await page.getByText('No invitation is open').waitFor();
  await page.getByRole('button', { name: 'Invite by e-mail' }).click();
  const invite = page.getByRole('dialog', { name: 'Invite to partner' });
  await invite.getByLabel('E-mail address').fill('not an address');
  await invite.getByText('Send the link by mail').click();
  await invite.getByRole('button', { name: 'Invite', exact: true }).click();
  await invite.locator('.fault').first().waitFor();
  await invite.getByLabel('E-mail address').fill('grace@example.com');
  await look('an invitation');
  await invite.getByRole('button', { name: 'Invite', exact: true }).click();
  const link = page.getByRole('dialog', { name: 'The link for grace@example.com' });
  await link.getByText('http').first().waitFor();
  await link.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Revoke the invitation of grace@example.com' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByText('No invitation is open').waitFor();
  expect((await server.admin.call(listInvitations, { params })).body).toEqual([]);
  await close();
});

test('an agent without an owner is refused in words; with one it is activated, reviewed and revoked', async () => {
  const lone = await server.admin.call(createAgent, { params, body: { name: 'lone' } });
  const owned = await server.admin.call(createAgent, { params, body: { name: 'writer', owner: 'ada' } });
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/agents/${lone.body?.id}`);
  await heading('lone');
  await page.getByText('It has no owner').waitFor();
  await page.getByRole('button', { name: 'Activate' }).click();
  const refusal = page.getByRole('alertdialog', { name: 'lone' });
  await refusal.waitFor();
  await refusal.getByRole('button', { name: 'Close' }).last().click();

  await open(`/realms/${realm}/agents/${owned.body?.id}`);
  await heading('writer');
  await page.getByRole('button', { name: 'Activate' }).click();
  await page.getByText('writer is active.').waitFor();
  await page.getByRole('button', { name: 'Confirm the need' }).click();
  await page.getByText('writer is reviewed.').waitFor();
  await look('an active agent');
  await page.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke for good' }).click();
  await page.getByText('It is revoked for good').waitFor();
  const { body } = await server.admin.call(getAgent, { params: { realm, id: owned.body?.id ?? '' } });
  expect(body?.status).toBe('revoked');
  await open(`/realms/${realm}/agents`);
  await page.getByRole('row', { name: /lone/ }).waitFor();
  await page.getByRole('link', { name: 'To review' }).click();
  await page.locator('.empty, .table-box table').first().waitFor();
  await look('agents to review');
  await close();
});

test('an item that another administrator deletes while its form is open: the form says so, and adds it again', async () => {
  const made = await server.admin.call(createClient, { params, body: { clientId: 'films', secret: 's'.repeat(40) } });
  const clientId = made.body?.id ?? '';
  const at = { realm, clientId };
  const body = { name: 'watch', displayName: 'Watch' };
  await server.admin.call(createAuthorizationScope, { params: at, body });
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/authorization-services/${clientId}?tab=scopes&item=watch`);
  const dialog = page.getByRole('dialog', { name: 'Edit watch' });
  await dialog.getByLabel('Display name').fill('Watch a film');
  await server.admin.call(deleteAuthorizationScope, { params: { ...at, name: 'watch' } });
  await dialog.getByRole('button', { name: 'Review and save' }).click();
  const review = page.getByRole('dialog').last();
  await review.getByRole('button', { name: 'Save', exact: true }).click();
  await review.getByRole('button', { name: 'Back to editing' }).click();
  await dialog.getByText('The scope watch was deleted meanwhile.').waitFor();
  expect(await dialog.getByLabel('Display name').inputValue()).toBe('Watch a film');
  await look('an item that was deleted meanwhile');
  await dialog.getByRole('button', { name: 'Review and add again' }).click();
  await page.getByRole('dialog').last().getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('Added the scope watch.').waitFor();
  const { body: service } = await server.admin.call(getAuthorizationService, { params: at });
  expect(service?.scopes).toMatchObject([{ name: 'watch', displayName: 'Watch a film' }]);
  await open(`/realms/${realm}/authorization-services/${clientId}?tab=scopes&item=gone`);
  await page.getByRole('dialog', { name: 'There is no scope gone' }).getByRole('button', { name: 'Close' }).click();
  await page.waitForURL((url) => !url.searchParams.has('item'));
  await close();
});

test('a client is protected: scope, resource, policy, permission; the evaluation says why', async () => {
  const made = await server.admin.call(createClient, { params, body: { clientId: 'albums', secret: 's'.repeat(40) } });
  const clientId = made.body?.id ?? '';
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/authorization-services`);
  await page.getByRole('button', { name: 'Protect a client' }).click();
  await page.getByRole('dialog').getByRole('combobox', { name: 'Client' }).fill('albums');
  await page.getByRole('option', { name: 'albums' }).click();
  await page.getByRole('button', { name: 'Go on' }).click();
  await heading('albums');
  await page.getByText('Nothing is declared yet').waitFor();
  const add = async (tab: RegExp, button: string, fill: () => Promise<void>, isLast = true) => {
    await page.getByRole('link', { name: tab }).click();
    await page.getByRole('button', { name: button }).click();
    await fill();
    await page.getByRole('dialog').getByRole('button', { name: 'Review and add' }).click();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Add', exact: true }).click();
    if (isLast) await page.getByRole('dialog').first().waitFor({ state: 'detached' });
  };
  await add(/^Scopes/, 'Add a scope', () => page.getByLabel('Name', { exact: true }).fill('view'));
  await add(/^Resources/, 'Add a resource', async () => {
    await page.getByLabel('Name', { exact: true }).fill('holiday');
    await page.getByRole('dialog').getByText('view', { exact: true }).click();
  });
  await page.getByRole('link', { name: /^Policies/ }).click();
  await page.getByRole('button', { name: 'Add a policy' }).click();
  await page.getByLabel('Name', { exact: true }).fill('only-ada');
  await page.getByRole('button', { name: /^role/ }).click();
  await page.getByRole('option', { name: 'user', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Review and add' }).click();
  await page.getByText('is required, and must not be empty').first().waitFor();
  await look('a policy with a fault');
  await page.getByRole('dialog').getByRole('button', { name: 'Add user' }).click();
  await page.getByLabel('Users, 1').fill('ada');
  await page.getByRole('dialog').getByRole('button', { name: 'Review and add' }).click();
  await page.getByRole('dialog').last().getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('row', { name: /only-ada/ }).waitFor();
  await add(/^Permissions/, 'Add a permission', async () => {
    await page.getByLabel('Name', { exact: true }).fill('see-holiday');
    await page.getByRole('dialog').getByText('holiday', { exact: true }).click();
    await page.getByRole('dialog').getByText('only-ada', { exact: true }).click();
  });
  const { body } = await server.admin.call(getAuthorizationService, { params: { realm, clientId } });
  expect(body?.permissions).toMatchObject([{ name: 'see-holiday', resources: ['holiday'], policies: ['only-ada'] }]);

  await open(`/realms/${realm}/authorization-services/${clientId}?resource=holiday&user=${ada}`);
  await page.getByText('Permitted: holiday').waitFor();
  await look('an evaluation beside the policies');
  await page.getByRole('row', { name: /only-ada/ }).click();
  await page.getByRole('dialog', { name: 'Edit only-ada' }).waitFor();
  await look('a policy');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  const inUse = page.getByRole('alertdialog', { name: 'only-ada is in use' });
  await inUse.waitFor();
  await look('a policy in use');
  await inUse.getByRole('link', { name: 'see-holiday' }).click();
  await page.getByRole('dialog', { name: 'Edit see-holiday' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the permission' }).click();
  await page.getByText('Deleted the permission see-holiday.').waitFor();
  await close();
});

test('admin roles: permissions by area, and a grant that is saved after it was shown', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/admin-roles`);
  await page.getByRole('row', { name: /user-manager/ }).click();
  await heading('user-manager');
  await page.getByRole('link', { name: 'Permissions by area' }).click();
  await page.getByRole('row', { name: /Users/ }).first().waitFor();
  await look('permissions by area');
  await open(`/realms/${realm}/admin-roles?tab=grants&holder=${ada}`);
  await page.getByText('No admin role is granted').waitFor();
  await page.getByRole('button', { name: /Admin role/ }).click();
  await page.getByRole('option', { name: 'user-manager' }).click();
  await page.getByRole('button', { name: 'Add the grant' }).click();
  await look('a grant');
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog').getByText('user-manager, over acme').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved the grants.').waitFor();
  const { body } = await server.admin.call(getUserAdminRoles, { params: { realm, userId: ada } });
  expect(body?.grants).toEqual([{ role: 'user-manager', realm }]);
  await close();
});

test('an administrator who may only read finds no button that the API would refuse', async () => {
  const { page, open, look, close } = await openConsole({ server, browser }, { as: VIEWER });
  const [group] = (await server.admin.call(listGroups, { params })).body ?? [];
  for (const [path, shown] of [
    ['groups', 'engineering'],
    [`groups/${group?.id}?tab=members`, 'Members'],
    [`groups/${group?.id}?tab=roles`, 'Roles'],
    ['agents', 'lone'],
    ['admin-roles?tab=grants', 'Choose a user or a client'],
    ['authorization-services', 'albums'],
  ] as const) {
    await open(`/realms/${realm}/${path}`);
    await page.getByText(shown).first().waitFor();
    for (const name of [/^Create/, /^Add/, /^Give/, /^Protect/, /^Review and save/, /^Revoke/])
      expect(await page.getByRole('main').getByRole('button', { name }).count(), `${path}: ${name}`).toBe(0);
  }
  await look('what a viewer sees');
  await close();
});
