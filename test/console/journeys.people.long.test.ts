// Owns: journeys of an administrator among people: users, groups, organizations, agents, admin roles, policies.
// Does not own: the list of all journeys (journeys.long.test.ts), each page for itself (users.test.ts, access.test.ts).
// Implements: decisions "Console": journeys by the keyboard alone, in narrow, dark, enlarged and mirrored windows, axe at each stop.
import { expect } from 'vitest';
import { getUserAdminRoles } from '../../server/contract/admin-access.ts';
import { createAgent } from '../../server/contract/agents.ts';
import { createClient } from '../../server/contract/clients.ts';
import { createGroup } from '../../server/contract/groups.ts';
import { listInvitations } from '../../server/contract/invitations.ts';
import { createOrganization } from '../../server/contract/organizations.ts';
import { createRole } from '../../server/contract/roles.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { createUser, getUser, listCredentials, listUsers } from '../../server/contract/users.ts';
import { type Journey, type Start, testJourneys } from '../support/console-journeys.ts';
import { createPerson } from '../support/person.ts';
import { ADMIN_PASSWORD } from '../support/server.ts';

/** Makes a user; returns the id. */
async function user({ server, realm }: Start, username: string, more: Record<string, unknown> = {}): Promise<string> {
  const body = { username, email: `${username}@example.com`, ...more };
  return (await server.admin.call(createUser, { params: { realm }, body })).body?.id ?? '';
}
async function signIn({ server, realm }: Start, username: string, password: string): Promise<void> {
  const person = createPerson(server.baseUrl);
  await person.fill(await person.open(`/realms/${realm}/login`), { username, password });
}

const journeys: Journey[] = [
  {
    name: 'a user is found and gets a new password and a set-up link',
    prepare: async (start) => ({ id: await user(start, 'ana'), other: await user(start, 'ben') }),
    async walk(hand, { realm }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}`);
      await hand.follow('Users');
      await hand.heading('Users');
      await page.getByRole('row', { name: /ben/ }).waitFor();
      await hand.fill(page.getByLabel('Find users'), 'an');
      await page.getByRole('row', { name: /ben/ }).waitFor({ state: 'detached' });
      await hand.press(page.getByRole('row', { name: /ana/ }));
      await hand.heading('ana');
      await hand.press(page.getByRole('button', { name: 'Reset password' }));
      const dialog = page.getByRole('dialog', { name: 'Reset the password of ana' });
      await hand.press(dialog.getByRole('button', { name: 'Generate' }));
      await hand.stop('a new password');
      await hand.press(dialog.getByRole('button', { name: 'Set the password' }));
      await page.getByText('Set the password and ended all sessions.').waitFor();
      await hand.press(page.getByRole('button', { name: 'More actions' }));
      await hand.press(page.getByRole('menuitem', { name: 'Make a set-up link…' }));
      const link = page.getByRole('dialog', { name: 'Make a set-up link for ana' });
      await hand.choose(link.getByRole('button', { name: /The user sets up/ }), 'An authenticator app');
      await hand.press(link.getByRole('button', { name: 'Make the link' }));
      await link.getByText(/^http/).waitFor();
      await hand.stop('a set-up link');
      await hand.press(link.getByRole('button', { name: 'Done' }));
      await hand.stop('a user');
    },
  },
  {
    name: 'a locked user: the report says why, and unlocking helps',
    async prepare(start) {
      const id = await user(start, 'cleo', { password: ADMIN_PASSWORD });
      const body = { lockoutEnabled: true, maxLoginFailures: 2 };
      await start.server.admin.call(putSettings, { params: { realm: start.realm }, body });
      for (let i = 0; i < 2; i += 1) await signIn(start, 'cleo', 'wrong wrong');
      return { id };
    },
    async walk(hand, { realm }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/users`);
      await hand.heading('Users');
      await hand.choose(page.getByRole('button', { name: /State/ }), 'Locked by failed sign-ins');
      await hand.press(page.getByRole('row', { name: /cleo/ }));
      await hand.heading('cleo');
      await hand.press(page.getByRole('link', { name: 'Sign-in report' }));
      await page.getByText('The password was wrong').first().waitFor();
      await hand.stop('why a user can’t sign in');
      await hand.press(page.getByRole('button', { name: 'Unlock' }).first());
      await hand.press(page.getByRole('alertdialog').getByRole('button', { name: 'Unlock' }));
      await page.getByText('can sign in now.').waitFor();
      await hand.stop('a user who can sign in');
    },
  },
  {
    name: 'a session is ended, and a way to sign in removed',
    async prepare(start) {
      const id = await user(start, 'dora', { password: ADMIN_PASSWORD });
      await signIn(start, 'dora', ADMIN_PASSWORD);
      return { id };
    },
    async walk(hand, { realm, server, made: { id = '' } }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/users/${id}?tab=sessions`);
      await hand.heading('dora');
      await hand.press(page.getByRole('button', { name: /^End the session in/ }));
      await hand.press(page.getByRole('alertdialog').getByRole('button', { name: /^End/ }));
      await page.getByText('The user is signed in nowhere.').waitFor();
      await hand.stop('a user without a session');
      await hand.press(page.getByRole('link', { name: 'Ways to sign in' }));
      await hand.press(page.getByRole('button', { name: /^Remove password/i }));
      await hand.stop('before a way to sign in is removed');
      await hand.press(page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }));
      await page.getByRole('button', { name: /^Remove password/i }).waitFor({ state: 'detached' });
      await hand.stop('the ways to sign in');
      expect((await server.admin.call(listCredentials, { params: { realm, userId: id } })).body).toEqual([]);
    },
  },
  {
    name: 'a role is given and taken away, a group joined and left',
    async prepare(start) {
      const params = { realm: start.realm };
      await start.server.admin.call(createRole, { params, body: { name: 'reader' } });
      await start.server.admin.call(createGroup, { params, body: { name: 'support' } });
      return { id: await user(start, 'eli') };
    },
    async walk(hand, { realm, made: { id = '' } }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/users/${id}?tab=access`);
      await hand.heading('eli');
      await hand.press(page.getByRole('button', { name: 'Give a role' }));
      const dialog = page.getByRole('dialog', { name: 'Give eli a role' });
      await hand.find(dialog.getByRole('combobox', { name: 'Role' }), 'read', /reader/);
      await hand.press(dialog.getByRole('button', { name: 'Give the role' }));
      await page
        .getByRole('row', { name: /^reader/ })
        .getByText('held directly')
        .waitFor();
      await hand.stop('the roles of a user');
      await hand.press(page.getByRole('button', { name: 'Take reader away' }));
      await hand.press(page.getByRole('alertdialog').getByRole('button', { name: 'Take away' }));
      await page.getByText('Took the role away.').waitFor();
      await hand.find(page.getByRole('combobox', { name: 'Group to join' }), 'sup', /support/);
      await hand.press(page.getByRole('button', { name: 'Add to the group' }));
      await page.getByText('Put the user into /support.').waitFor();
      await hand.press(page.getByRole('button', { name: 'Take the user out of /support' }));
      await page.getByText('Took the user out of /support.').waitFor();
      await hand.stop('a user without groups');
    },
  },
  {
    name: 'a group and one within it are made, and get a member',
    prepare: async (start) => ({ id: await user(start, 'finn') }),
    async walk(hand, { realm }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}`);
      await hand.follow('Groups');
      await page.getByText('There are no groups yet').waitFor();
      await hand.stop('no groups');
      await hand.press(page.getByRole('link', { name: 'Create a group' }).first());
      await hand.fill(page.getByLabel('Name', { exact: true }), 'engineering');
      await hand.press(page.getByRole('button', { name: 'Review and create' }));
      await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }));
      await hand.heading('/engineering');
      await hand.press(page.getByRole('link', { name: 'Members' }));
      await hand.press(page.getByRole('button', { name: 'Add a user' }));
      await hand.find(page.getByRole('dialog').getByRole('combobox', { name: 'User' }), 'fin', /finn/);
      await hand.press(page.getByRole('button', { name: 'Add the user' }));
      await page.getByRole('row', { name: /finn/ }).waitFor();
      await hand.stop('the members of a group');
    },
  },
  {
    name: 'several users are disabled at once',
    prepare: async (start) => ({ one: await user(start, 'gil'), two: await user(start, 'gus') }),
    async walk(hand, { realm, server, made: { one = '', two = '' } }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/users?q=g`);
      await page.getByRole('row', { name: /gus/ }).waitFor();
      for (const name of [/gil/, /gus/]) await hand.tick(page.getByRole('row', { name }).getByRole('checkbox'));
      await page.getByText('2 users selected').waitFor();
      await hand.stop('a selection');
      await hand.press(page.getByRole('button', { name: 'Actions' }));
      await hand.press(page.getByRole('menuitem', { name: 'Disable…' }));
      const dialog = page.getByRole('alertdialog', { name: 'Disable: 2 users' });
      await dialog.waitFor();
      await hand.stop('before users are disabled');
      await hand.press(dialog.getByRole('button', { name: 'Disable', exact: true }));
      await page.getByText('Disable: done for 2 users.').waitFor();
      await hand.stop('after users were disabled');
      for (const userId of [one, two])
        expect((await server.admin.call(getUser, { params: { realm, userId } })).body?.enabled).toBe(false);
    },
  },
  {
    name: 'a file of users is imported, and its refused row is shown',
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/users`);
      await hand.heading('Users');
      await hand.press(page.getByRole('link', { name: 'Import', exact: true }));
      await hand.heading('Import users');
      const file = 'username,email\nhal,hal@example.com\nida,no address\n';
      await hand.upload(page.getByLabel('A file of users'), 'people.csv', file);
      await hand.stop('what a file has');
      await hand.press(page.getByRole('button', { name: 'Import 2 users' }));
      await page.getByText('1 created').waitFor();
      await page.getByRole('row', { name: /line 3/ }).waitFor();
      await hand.stop('an import with a refused row');
      await hand.press(page.getByRole('link', { name: 'Show the users' }));
      await page.getByRole('row', { name: /hal/ }).waitFor();
      expect((await server.admin.call(listUsers, { params: { realm } })).body).toHaveLength(1);
    },
  },
  {
    name: 'a user’s data is exported, then the user is erased',
    prepare: async (start) => ({ id: await user(start, 'jo') }),
    async walk(hand, { realm, made: { id = '' } }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/users/${id}`);
      await hand.heading('jo');
      await hand.press(page.getByRole('link', { name: 'Personal data' }));
      const download = page.waitForEvent('download');
      await hand.press(page.getByRole('button', { name: 'Export', exact: true }));
      expect((await download).suggestedFilename()).toBe(`${realm}-${id}.json`);
      await hand.stop('the data of a user');
      await hand.press(page.getByRole('button', { name: 'Erase the user' }));
      const dialog = page.getByRole('alertdialog', { name: 'Erase jo?' });
      await hand.fill(dialog.getByLabel('Type jo to confirm'), 'jo');
      await hand.press(dialog.getByRole('button', { name: 'Erase', exact: true }));
      await hand.heading('Users');
      await page.getByText('Erased the user.').waitFor();
      await hand.stop('the users after an erasure');
    },
  },
  {
    name: 'a user is created',
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/users`);
      await hand.heading('Users');
      await hand.press(page.getByRole('link', { name: 'Create a user' }).first());
      await hand.heading('Create a user');
      await hand.press(page.getByRole('button', { name: 'Create', exact: true }));
      await page.locator('.fault').first().waitFor();
      await hand.stop('a form with a fault');
      await hand.fill(page.getByLabel('Username', { exact: true }), 'kim');
      await hand.press(page.getByRole('button', { name: 'Create', exact: true }));
      await hand.heading('kim');
      await hand.stop('a new user');
      expect((await server.admin.call(listUsers, { params: { realm }, query: { q: 'kim' } })).body).toHaveLength(1);
    },
  },
  {
    name: 'the tokens of a user at an application are previewed',
    async prepare(start) {
      const body = {
        clientId: 'shop',
        tokenEndpointAuthMethod: 'none' as const,
        redirectUris: ['https://shop.example/'],
      };
      await start.server.admin.call(createClient, { params: { realm: start.realm }, body });
      return { id: await user(start, 'lea') };
    },
    async walk(hand, { realm, made: { id = '' } }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/users/${id}`);
      await hand.heading('lea');
      await hand.press(page.getByRole('button', { name: 'More actions' }));
      await hand.press(page.getByRole('menuitem', { name: 'Preview tokens' }));
      await hand.heading('Token preview');
      await hand.find(page.getByRole('combobox', { name: 'Application' }), 'sho', /shop/);
      await hand.press(page.getByRole('button', { name: 'Preview' }));
      await page.getByRole('region', { name: 'ID token' }).getByText(id).first().waitFor();
      await hand.stop('a preview of tokens');
    },
  },
  {
    name: 'policies are asked whether a user may see a thing',
    async prepare(start) {
      const id = await user(start, 'mia');
      await start.server.admin.call(importRealm, {
        params: { realm: start.realm },
        body: {
          clients: [{ clientId: 'albums', secret: 's'.repeat(40) }],
          authorizationServices: [
            {
              clientId: 'albums',
              resources: [{ name: 'holiday' }],
              policies: [{ name: 'only-mia', type: 'user', config: { users: ['mia'] } }],
              permissions: [{ name: 'see', resources: ['holiday'], policies: ['only-mia'] }],
            },
          ],
        },
      });
      return { id };
    },
    async walk(hand, { realm }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/authorization-services`);
      await hand.press(page.getByRole('row', { name: /albums/ }));
      await hand.heading('albums');
      const evaluate = page.getByRole('region', { name: 'Evaluate' });
      await hand.find(evaluate.getByRole('combobox', { name: 'User' }), 'mi', /mia/);
      await hand.choose(evaluate.getByRole('button', { name: /Resource/ }), 'holiday');
      await page.getByText('Permitted: holiday').waitFor();
      await hand.stop('an answer of the policies');
    },
  },
  {
    name: 'an agent is activated, reviewed and revoked',
    async prepare(start) {
      await user(start, 'nia');
      const body = { name: 'writer', owner: 'nia' };
      const made = await start.server.admin.call(createAgent, { params: { realm: start.realm }, body });
      return { id: made.body?.id ?? '' };
    },
    async walk(hand, { realm }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}`);
      await hand.follow('Agents');
      await hand.press(page.getByRole('row', { name: /writer/ }));
      await hand.heading('writer');
      await hand.press(page.getByRole('button', { name: 'Activate' }));
      await page.getByText('writer is active.').waitFor();
      await hand.press(page.getByRole('button', { name: 'Confirm the need' }));
      await page.getByText('writer is reviewed.').waitFor();
      await hand.stop('an active agent');
      await hand.press(page.getByRole('button', { name: 'Revoke' }));
      await hand.press(page.getByRole('alertdialog').getByRole('button', { name: 'Revoke for good' }));
      await page.getByText('It is revoked for good').waitFor();
      await hand.stop('a revoked agent');
    },
  },
  {
    name: 'an organization gets a member, a domain and an invitation',
    async prepare(start) {
      await user(start, 'oli');
      const body = { name: 'partner', domains: [{ name: 'partner.invalid' }] };
      const made = await start.server.admin.call(createOrganization, { params: { realm: start.realm }, body });
      return { id: made.body?.id ?? '' };
    },
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/organizations`);
      await page
        .getByRole('row', { name: /partner/ })
        .getByText('partner.invalid', { exact: true })
        .waitFor();
      await hand.press(page.getByRole('row', { name: /partner/ }));
      await hand.heading('partner');
      await hand.press(page.getByRole('link', { name: 'Members' }));
      await hand.press(page.getByRole('button', { name: 'Add a member' }));
      await hand.find(page.getByRole('dialog').getByRole('combobox', { name: 'User' }), 'ol', /oli/);
      await hand.press(page.getByRole('button', { name: 'Add the member' }));
      await page.getByRole('row', { name: /oli/ }).waitFor();
      await hand.press(page.getByRole('link', { name: 'Domains' }));
      await hand.press(page.getByRole('button', { name: 'Verify now' }));
      await page.getByText('TXT', { exact: true }).waitFor();
      await hand.stop('a domain');
      await page.keyboard.press('Escape');
      await hand.press(page.getByRole('link', { name: 'Invitations' }));
      await hand.press(page.getByRole('button', { name: 'Invite by e-mail' }));
      const invite = page.getByRole('dialog', { name: 'Invite to partner' });
      await hand.fill(invite.getByLabel('E-mail address'), 'grace@example.com');
      await hand.tick(invite.getByLabel('Send the link by mail'));
      await hand.press(invite.getByRole('button', { name: 'Invite', exact: true }));
      const link = page.getByRole('dialog', { name: 'The link for grace@example.com' });
      await link.getByText('http').first().waitFor();
      await hand.stop('the link of an invitation');
      await hand.press(link.getByRole('button', { name: 'Done' }));
      await hand.stop('an open invitation');
      expect((await server.admin.call(listInvitations, { params: { realm } })).body).toHaveLength(1);
    },
  },
  {
    name: 'an admin role is given to a user',
    prepare: async (start) => ({ id: await user(start, 'pam') }),
    async walk(hand, { realm, server, made: { id = '' } }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/admin-roles?tab=grants`);
      await hand.find(page.getByRole('combobox', { name: 'User' }), 'pa', /pam/);
      await page.getByText('No admin role is granted').waitFor();
      await hand.choose(page.getByRole('button', { name: /Admin role/ }), 'user-manager');
      await hand.press(page.getByRole('button', { name: 'Add the grant' }));
      await hand.stop('a grant');
      await hand.press(page.getByRole('button', { name: 'Review and save' }));
      await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }));
      await page.getByText('Saved the grants.').waitFor();
      await hand.stop('saved grants');
      const { body } = await server.admin.call(getUserAdminRoles, { params: { realm, userId: id } });
      expect(body?.grants).toEqual([{ role: 'user-manager', realm }]);
    },
  },
];

testJourneys(journeys);
