// Owns: journeys of an administrator who runs a realm: its log, its keys, what is declared, finding the way, sessions of their own.
// Does not own: the list of all journeys (journeys.long.test.ts), each page for itself (audit.test.ts, declared.test.ts, …).
// Implements: decisions "Console": journeys by the keyboard alone, in narrow, dark, enlarged and mirrored windows, axe at each stop.
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { getClient, listClients } from '../../server/contract/clients.ts';
import { listKeys } from '../../server/contract/keys.ts';
import { createRole, listRoles } from '../../server/contract/roles.ts';
import { getSettings, putSettings } from '../../server/contract/settings.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { createWebhook, listDeliveries, testWebhook } from '../../server/contract/webhooks.ts';
import { codeAt, secretOn } from '../support/authenticator-app.ts';
import { consoleAdministrator } from '../support/console-administrators.ts';
import { type Journey, type Start, testJourneys } from '../support/console-journeys.ts';
import { createPerson } from '../support/person.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { ADMIN_PASSWORD } from '../support/server.ts';

let receiver: Receiver;
const manager = 'k8s:prod/identity/Realm/acme';
const declared = { clients: [{ clientId: 'shop', name: 'The shop', tokenEndpointAuthMethod: 'none' as const }] };

/** A client that a resource of a cluster declares. */
async function declare({ server, realm }: Start): Promise<Record<string, string>> {
  const params = { realm };
  await server.admin.call(importRealm, { params, query: { manager }, body: declared });
  return { id: (await server.admin.call(listClients, { params, query: { q: 'shop' } })).body?.[0]?.id ?? '' };
}
const role = async ({ server, realm }: Start, name: string): Promise<Record<string, string>> => ({
  id: (await server.admin.call(createRole, { params: { realm }, body: { name } })).body?.id ?? '',
});

const journeys: Journey[] = [
  {
    name: 'the log is filtered, one event read, and the rest exported',
    prepare: (start) => role(start, 'editor'),
    async walk(hand, { realm }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}`);
      await hand.follow('Events');
      await hand.heading('Events');
      await hand.find(page.getByRole('combobox', { name: 'Type of event' }), 'ROLE_CREATED', /^ROLE_CREATED/);
      await hand.press(
        page
          .getByRole('row')
          .filter({ hasText: /ROLE_CREATED/ })
          .first(),
      );
      await page.getByRole('dialog', { name: 'ROLE_CREATED' }).getByText('editor').first().waitFor();
      await hand.stop('an event');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await hand.press(page.getByRole('button', { name: 'Export' }));
      const download = page.waitForEvent('download');
      await hand.press(page.getByRole('menuitem', { name: 'As CSV, for a spreadsheet' }));
      expect(await readFile(await (await download).path(), 'utf8')).toContain('ROLE_CREATED');
      await page.getByText(/The file has \d+ event/).waitFor();
      await hand.stop('the export');
    },
  },
  {
    name: 'the log is followed as things happen',
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/events`);
      await hand.heading('Events');
      await hand.tick(page.getByRole('switch', { name: 'Follow' }));
      await page.getByText('New events appear here as they happen.').waitFor();
      await role({ server, realm }, 'came-later');
      await page
        .getByRole('row')
        .filter({ hasText: /ROLE_CREATED.*came-later/ })
        .waitFor();
      await hand.stop('a log that is followed');
    },
  },
  {
    name: 'a delivery that was given up is tried again, and arrives',
    async prepare({ server, realm }) {
      const params = { realm };
      const body = {
        name: 'crm',
        url: `${receiver.url}/${realm}`,
        eventTypes: 'LOGIN_SUCCESS',
        enabled: true,
        secret: 'sixteen characters or more',
      };
      const id = (await server.admin.call(createWebhook, { params, body })).body?.id ?? '';
      receiver.answer = () => ({ status: 500 });
      await server.admin.call(testWebhook, { params: { realm, id } });
      const isDead = async () =>
        (await server.admin.call(listDeliveries, { params: { realm, id } })).body?.[0]?.status === 'dead';
      await expect.poll(isDead).toBe(true);
      receiver.answer = () => ({ status: 204 });
      return { id };
    },
    async walk(hand, { realm }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/operations`);
      await hand.heading('Operations');
      await hand.press(page.getByRole('link', { name: 'Deliveries' }));
      await page.getByRole('row').getByText('given up').first().waitFor();
      await hand.stop('a delivery that was given up');
      await hand.press(page.getByRole('button', { name: 'Try again: WEBHOOK_TEST' }));
      await page
        .getByRole('row')
        .filter({ hasText: /WEBHOOK_TEST/ })
        .getByText('arrived')
        .waitFor();
      await hand.stop('a delivery that arrived');
    },
  },
  {
    name: 'the keys are rotated',
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}`);
      await hand.follow('Keys');
      await hand.heading('Keys');
      await hand.press(page.getByRole('button', { name: 'Make a new key' }));
      await hand.stop('a new key');
      await hand.press(page.getByRole('button', { name: 'Make the key' }));
      await page.getByText('A new key signs by RS256 now.').waitFor();
      await page
        .getByRole('row')
        .filter({ hasText: /published still/ })
        .waitFor();
      await hand.stop('two keys');
      expect((await server.admin.call(listKeys, { params: { realm } })).body).toHaveLength(2);
    },
  },
  {
    name: 'a hold lets a declared client be changed by hand, and is ended',
    prepare: declare,
    async walk(hand, { realm, server, made: { id = '' } }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/clients/${id}`);
      await hand.heading('shop');
      await hand.press(page.getByRole('link', { name: 'Edit', exact: true }));
      await hand.heading('Edit shop');
      await page.getByText('They are read-only here').waitFor();
      await hand.press(page.getByRole('button', { name: 'Hold…' }));
      const dialog = page.getByRole('dialog', { name: 'Place a hold' });
      await hand.fill(dialog.getByLabel('Reason'), 'INC-1234');
      await hand.stop('a hold before it is placed');
      await hand.press(dialog.getByRole('button', { name: 'Place the hold' }));
      await page.getByText('A hold keeps this as it is').waitFor();
      await hand.fill(page.getByLabel('Name', { exact: true }), 'By hand');
      await hand.press(page.getByRole('button', { name: 'Review and save' }));
      await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true, disabled: false }));
      await hand.heading('shop');
      expect((await server.admin.call(getClient, { params: { realm, id } })).body?.name).toBe('By hand');
      await hand.follow('Declared and history');
      await hand.press(page.getByRole('link', { name: 'Holds' }));
      await hand.press(page.getByRole('button', { name: 'End now' }));
      await page.getByText('No hold stands').waitFor();
      await hand.stop('no holds');
    },
  },
  {
    name: 'a declared client is modified and copied, not saved',
    prepare: declare,
    async walk(hand, { realm, server, made: { id = '' } }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/clients/${id}/edit`);
      await hand.heading('Edit shop');
      await hand.press(page.getByRole('button', { name: 'Modify and copy' }));
      await page.getByText('Nothing is saved here.').waitFor();
      await hand.fill(page.getByLabel('Name', { exact: true }), 'Another shop');
      await hand.press(page.getByRole('button', { name: 'Show the declaration' }));
      await page
        .getByText(/name: Another shop/)
        .first()
        .waitFor();
      await hand.stop('the declaration to copy');
      expect((await server.admin.call(getClient, { params: { realm, id } })).body?.name).toBe('The shop');
    },
  },
  {
    name: 'an applied document is taken back after its plan',
    async prepare({ server, realm }) {
      const query = { manager: 'pipeline' };
      await server.admin.call(importRealm, { params: { realm }, query, body: { roles: [{ name: 'made' }] } });
      return {};
    },
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}`);
      await hand.follow('Declared and history');
      await hand.press(page.getByRole('link', { name: 'History', exact: true }).first());
      await hand.press(page.getByRole('row').filter({ hasText: /pipeline/ }));
      await page.getByRole('heading', { level: 1, name: /^Revision \d+$/ }).waitFor();
      await hand.press(page.getByRole('button', { name: 'Take it back…' }));
      const dialog = page.getByRole('dialog', { name: /Take revision \d+ back/ });
      await dialog.getByText('Delete', { exact: true }).waitFor();
      await hand.stop('the plan of an undo');
      await hand.press(dialog.getByRole('button', { name: 'Take it back', exact: true }));
      await page.getByText('Takes back', { exact: true }).waitFor();
      await hand.stop('an undo');
      const roles = (await server.admin.call(listRoles, { params: { realm } })).body ?? [];
      expect(roles.map(({ name }) => name)).not.toContain('made');
    },
  },
  {
    name: 'a realm is compared with another one, and with a file',
    prepare: (start) => role(start, 'only-here'),
    async walk(hand, { realm }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/declared?tab=compare`);
      await hand.find(page.getByRole('combobox', { name: 'Another realm' }), 'master', /master/);
      await page
        .getByRole('region', { name: /^Only in j/ })
        .getByText('only-here')
        .waitFor();
      await hand.stop('two realms compared');
      await hand.press(page.locator('summary', { hasText: 'A file: a realm document' }));
      await hand.upload(page.getByLabel('File', { exact: true }), 'realm.yaml', 'roles:\n  - name: from-a-file\n');
      await page
        .getByRole('region', { name: /^Only in the file/ })
        .getByText('from-a-file')
        .first()
        .waitFor();
      await hand.stop('a realm compared with a file');
    },
  },
  {
    name: 'a setting is changed after its plan',
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}`);
      await hand.follow('Settings');
      await hand.heading('Settings');
      await hand.press(page.getByRole('link', { name: 'Passwords' }));
      await hand.fill(page.getByLabel('Password min length'), '14');
      await hand.press(page.getByRole('button', { name: 'Review and save' }));
      const review = page.getByRole('dialog', { name: 'Save the settings' });
      await review.getByText('passwordMinLength').waitFor();
      await hand.stop('the plan of a setting');
      await hand.press(review.getByRole('button', { name: 'Save', exact: true }));
      await page.getByText('Saved the settings.').waitFor();
      await hand.stop('saved settings');
      expect((await server.admin.call(getSettings, { params: { realm } })).body?.passwordMinLength).toBe(14);
    },
  },
  {
    name: 'a role is deleted after its name was typed',
    prepare: (start) => role(start, 'temporary'),
    async walk(hand, { realm }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/roles`);
      await hand.fill(page.getByLabel('Find realm roles'), 'temp');
      await hand.press(page.getByRole('row').filter({ hasText: /temporary/ }));
      await hand.heading('temporary');
      await hand.press(page.getByRole('button', { name: 'More actions' }));
      await hand.press(page.getByRole('menuitem', { name: /^Delete the/ }));
      await hand.fill(page.getByLabel('Type temporary to go on'), 'temporary');
      await hand.stop('before a role is deleted');
      await hand.press(page.getByRole('alertdialog').getByRole('button', { name: /^Delete the/ }));
      await hand.heading('Roles');
      await page.getByText(/^Deleted the .*temporary/).waitFor();
      await hand.stop('the roles');
    },
  },
  {
    name: 'an object is found by the palette',
    prepare: (start) => role(start, 'treasurer'),
    async walk(hand, { realm }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}`);
      await hand.heading(realm);
      await hand.press(page.getByRole('button', { name: /^Search/ }));
      await hand.fill(page.getByLabel('Search for pages, realms and objects'), 'treasurer');
      const entry = page.getByRole('menuitem', { name: /treasurer/ }).first();
      await entry.waitFor();
      await hand.stop('the palette');
      await hand.press(entry);
      await hand.heading('treasurer');
      await hand.stop('what the palette found');
    },
  },
  {
    name: 'a realm is pinned, and chosen again',
    async walk(hand, { realm }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}`);
      await hand.heading(realm);
      await hand.press(page.getByRole('button', { name: `Realm ${realm}` }));
      await hand.press(page.getByRole('button', { name: `Pin ${realm}` }));
      await page.getByRole('button', { name: `Unpin ${realm}` }).waitFor();
      await hand.stop('the realms to choose from');
      await hand.fill(page.getByLabel('Find a realm').last(), 'maste');
      await hand.press(page.getByRole('menuitem', { name: /master/ }).first());
      await hand.heading('master');
      await hand.press(page.getByRole('button', { name: 'Realm master' }));
      await hand.press(page.getByRole('menuitem', { name: realm }).first());
      await hand.heading(realm);
      await hand.stop('the pinned realm');
    },
  },
  {
    name: 'an address that is sent to a colleague keeps filter and tab; back works',
    async prepare(start) {
      await role(start, 'alpha');
      return role(start, 'beta');
    },
    async walk(hand, { realm }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/roles`);
      await hand.fill(page.getByLabel('Find realm roles'), 'alp');
      await page.waitForURL(/q=alp/);
      await page.getByRole('row').filter({ hasText: /beta/ }).waitFor({ state: 'detached' });
      const colleague = await page.context().newPage();
      await colleague.goto(page.url());
      await colleague.getByRole('row', { name: /alpha/ }).waitFor();
      expect(await colleague.getByLabel('Find realm roles').inputValue()).toBe('alp');
      expect(await colleague.getByRole('row', { name: /beta/ }).count()).toBe(0);
      await colleague.close();
      await hand.press(page.getByRole('row').filter({ hasText: /alpha/ }));
      await hand.heading('alpha');
      await page.goBack();
      await hand.heading('Roles');
      expect(await page.getByLabel('Find realm roles').inputValue()).toBe('alp');
      await hand.stop('back at the filtered roles');
      await page.goForward();
      await hand.heading('alpha');
      await hand.open(`/realms/${realm}/operations`);
      await hand.press(page.getByRole('link', { name: 'Messages' }));
      await page.getByText('No message was sent').waitFor();
      await hand.stop('a tab');
      await page.reload();
      await page.getByText('No message was sent').waitFor();
    },
  },
  {
    name: 'a session that ended is told of, and the page is there after the sign-in',
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/clients`);
      await hand.heading('Clients');
      await page.evaluate(`fetch('/admin/logout', {
        method: 'POST', headers: { 'x-xsrf-token': decodeURIComponent(/XSRF-TOKEN=([^;]+)/.exec(document.cookie)[1]) },
      })`);
      await page.reload();
      const dialog = page.getByRole('alertdialog', { name: 'Your session ended' });
      const plain = page.getByRole('link', { name: 'Sign in', exact: true });
      await dialog
        .or(plain)
        .or(page.getByRole('button', { name: 'Continue' }))
        .first()
        .waitFor();
      if (await dialog.isVisible()) {
        await hand.stop('an ended session');
        await hand.press(dialog.getByRole('link', { name: 'Sign in again' }));
      } else if (await plain.isVisible()) await hand.press(plain);
      await hand.press(page.getByRole('button', { name: 'Continue' }));
      await hand.fill(page.getByLabel('Username'), 'admin');
      await hand.fill(page.getByLabel('Password', { exact: true }), ADMIN_PASSWORD);
      await page.keyboard.press('Enter');
      await hand.heading('Clients');
      expect(page.url()).toBe(`${server.baseUrl}/admin/console/realms/${realm}/clients`);
    },
  },
  {
    name: 'the server asks for a second factor in the middle of the work, and it goes on',
    as: ({ server, realm }) =>
      consoleAdministrator(server, realm, 'boss', ['clients:read', 'roles:read', 'realm:read']),
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/roles`);
      await hand.heading('Roles');
      await server.admin.call(putSettings, { params: { realm }, body: { requireMfa: true } });
      const boss = createPerson(server.baseUrl);
      const credentials = { username: 'boss', password: ADMIN_PASSWORD };
      const enrolment = await boss.fill(await boss.open(`/realms/${realm}/login`), credentials);
      const secret = secretOn(enrolment);
      await boss.fill(enrolment, { code: codeAt(secret) });
      // by script, as the dialog may have come before
      await page.evaluate(`history.pushState(null, '', '/admin/console/realms/${realm}/clients')`);
      const dialog = page.getByRole('alertdialog', { name: 'Prove a second factor' });
      await dialog.waitFor();
      await hand.stop('a second factor is asked for');
      const code = dialog.getByLabel('Code of your authenticator app');
      await hand.fill(code, '000000');
      await hand.press(dialog.getByRole('button', { name: 'Continue' }));
      await dialog.getByText('This code is not right.').waitFor();
      await hand.stop('a wrong code');
      // that of the enrolment is used up
      await hand.fill(code, codeAt(secret, Date.now() + 30_000));
      await hand.press(dialog.getByRole('button', { name: 'Continue' }));
      await dialog.waitFor({ state: 'detached' });
      await hand.heading('Clients');
      await hand.stop('the page after the second factor');
    },
  },
  {
    name: 'the administrator signs out',
    async walk(hand, { realm }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/clients`);
      await hand.heading('Clients');
      await hand.open(`/realms/${realm}`);
      await hand.heading(realm);
      await hand.press(page.getByRole('button', { name: 'Account of admin' }));
      await hand.stop('the menu of the account');
      await hand.press(page.getByRole('menuitem', { name: 'Sign out' }));
      await page.getByRole('button', { name: 'Continue' }).waitFor();
      await page.goBack();
      await page.getByRole('button', { name: 'Continue' }).or(page.getByRole('alertdialog')).first().waitFor();
    },
  },
  {
    name: 'a client is created and edited',
    async walk(hand, { realm, server }) {
      const { page } = hand;
      await hand.open(`/realms/${realm}/clients`);
      await hand.press(page.getByRole('link', { name: 'Create a client' }).first());
      await hand.fill(page.getByLabel('Client ID', { exact: true }), 'portal');
      await hand.stop('a new client');
      await hand.press(page.getByRole('button', { name: 'Review and create' }));
      await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true, disabled: false }));
      await hand.heading('portal');
      await hand.press(page.getByRole('link', { name: 'Edit', exact: true }));
      await hand.fill(page.getByLabel('Description', { exact: true }), 'Where customers buy');
      await hand.press(page.getByRole('button', { name: 'Review and save' }));
      await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true, disabled: false }));
      await hand.heading('portal');
      await page.getByText('Where customers buy').waitFor();
      await hand.stop('an edited client');
      const { body } = await server.admin.call(listClients, { params: { realm }, query: { q: 'portal' } });
      expect(body).toMatchObject([{ clientId: 'portal', description: 'Where customers buy' }]);
    },
  },
];

testJourneys(journeys, {
  first: 3,
  async options() {
    receiver = await startReceiver();
    // a delivery is given up at its first failure
    return { env: { SVC_OUTBOUND_CA_FILE: receiver.caFile }, retryDelaysSeconds: [] };
  },
  stop: async () => receiver?.stop(),
});
