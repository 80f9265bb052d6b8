// Owns: administrators in the console and the operator on a real cluster, at the same objects at the same time.
// Does not own: two administrators alone (together.test.ts), the operator's report of holds (operator/holds*.test.ts).
// Implements: decisions "Holds", "Console"; docs/gitops.md "An emergency edit".
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { getClient, listClients } from '../../server/contract/clients.ts';
import { listEvents } from '../../server/contract/events.ts';
import { endHold, listHolds, placeHold } from '../../server/contract/holds.ts';
import { builtInAdminRoles } from '../../server/contract/permissions.ts';
import { listManagers } from '../../server/contract/transfer.ts';
import { openPool, sqlOver } from '../../server/db/sql.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { launchBrowser } from '../support/chromium.ts';
import { type ConsolePage, type Credentials, openConsole } from '../support/console.ts';
import { consoleAdministrator } from '../support/console-administrators.ts';
import { landscape } from '../support/landscape.ts';
import { eventually, resource } from '../support/operator.ts';

const assets = await clusterAssets();
const realm = 'together';
const params = { realm };
const NAME = 'keeper';
const GIT = `Realm default/${NAME}`;
const MERGE = 'Somebody else changed this meanwhile';

describe.skipIf(!assets.found)('administrators and the operator', () => {
  const land = landscape();
  let browser: Browser;
  let administrators: Credentials[] = [];
  let ana: ConsolePage;
  let ben: ConsolePage;
  /** Each journey has a client of its own. */
  let clientId = '';
  let id = '';
  let journey = 0;

  /** What Git says. */
  const declare = async (...clients: object[]) => {
    await land.apply(resource('Realm', NAME, { realm, settings: { displayName: 'Together' }, clients }));
  };
  const applied = () =>
    eventually(async () => {
      const { metadata, status } = await land.object('Realm', NAME);
      const { observedGeneration, conditions = [] } = Object(status);
      expect(observedGeneration).toBe(Object(metadata).generation);
      expect(conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
    });
  const heldNow = async (): Promise<string | undefined> => {
    const { status } = await land.object('Realm', NAME);
    const conditions: { type: string; message: string }[] = Object(status).conditions ?? [];
    return conditions.find(({ type }) => type === 'Held')?.message;
  };
  const stored = async () => (await land.client.call(getClient, { params: { realm, id } })).body;
  const idOf = async (clientId: string) =>
    (await land.client.call(listClients, { params })).body?.find((one) => one.clientId === clientId)?.id;
  const holds = async () => (await land.client.call(listHolds, { params })).body ?? [];
  const owned = async () =>
    ((await land.client.call(listManagers, { params })).body ?? []).flatMap(({ owns }) => owns.map(({ key }) => key));

  const shop = (more: object = {}) => ({ clientId, name: 'Shop', tokenEndpointAuthMethod: 'none', ...more });
  const field = ({ page }: ConsolePage, label: string) => page.getByLabel(label, { exact: true });
  const mergeOf = ({ page }: ConsolePage) => page.getByRole('alertdialog', { name: MERGE });
  const openForm = async (console: ConsolePage) => {
    await console.open(`/realms/${realm}/clients/${id}/edit`);
    await console.heading(`Edit ${clientId}`);
  };
  const openObject = async (console: ConsolePage) => {
    await console.open(`/realms/${realm}/clients/${id}`);
    await console.heading(clientId);
  };
  const review = ({ page }: ConsolePage) => page.getByRole('button', { name: 'Review and save' }).click();
  const confirm = ({ page }: ConsolePage) =>
    page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  const saved = ({ page }: ConsolePage) => page.getByText('Saved the client.').first().waitFor();
  /** Holds the client for an hour, by its form. */
  async function hold(console: ConsolePage, reason: string): Promise<void> {
    await console.page.getByRole('button', { name: 'Hold…' }).click();
    const dialog = console.page.getByRole('dialog', { name: 'Place a hold' });
    await dialog.getByLabel('Reason').fill(reason);
    await dialog.getByRole('button', { name: 'Place the hold' }).click();
    await console.page.getByText('A hold keeps this as it is').waitFor();
  }
  /** The page shows the value by itself: nothing loads it anew. */
  const shows = ({ page }: ConsolePage, value: string) =>
    page.locator('main dd').getByText(value, { exact: true }).first().waitFor({ timeout: 60_000 });
  const noHold = ({ page }: ConsolePage) =>
    page.getByText('A hold keeps this as it is').waitFor({ state: 'detached', timeout: 60_000 });

  beforeAll(async () => {
    browser = await launchBrowser();
    await declare();
    await applied();
    const all = [...(builtInAdminRoles['realm-admin'] ?? [])].filter((one) => one !== 'realm:create');
    administrators = [
      await consoleAdministrator({ admin: land.client }, realm, 'ana', all),
      await consoleAdministrator({ admin: land.client }, realm, 'ben', all),
    ];
  });
  beforeEach(async () => {
    for (const hold of await holds()) await land.client.call(endHold, { params: { realm, id: hold.id } });
    journey += 1;
    clientId = `shop-${journey}`;
    await declare(shop());
    await applied();
    id = (await idOf(clientId)) ?? '';
    const [as, asToo] = administrators;
    const server = { baseUrl: land.serverUrl };
    ana = await openConsole({ server, browser }, { as: as ?? null });
    ben = await openConsole({ server, browser }, { as: asToo ?? null });
    return async () => {
      await ana.close();
      await ben.close();
    };
  });
  afterAll(() => browser?.close());

  describe('a new version of the manifest while an administrator edits', () => {
    test('changes another field: both are kept', async () => {
      await openForm(ana);
      expect(await field(ana, 'Name').isDisabled()).toBe(true);
      await field(ana, 'Description').fill('By Ana');
      await declare(shop({ name: 'Shop of Git' }));
      await applied();
      await review(ana);
      await confirm(ana);
      await mergeOf(ana).getByText('Shop of Git').waitFor();
      await ana.look('a save after a document was applied');
      await mergeOf(ana).getByRole('button', { name: 'Go on with this' }).click();
      await confirm(ana);
      await saved(ana);
      await declare(shop({ name: 'Shop of Git', redirectUris: ['https://shop.example.com/'] }));
      await applied();
      expect(await stored()).toMatchObject({ name: 'Shop of Git', description: 'By Ana' });
    });

    test('declares the field that is edited: the console says so, and the declared value stays', async () => {
      await openForm(ana);
      await field(ana, 'Description').fill('By Ana');
      await declare(shop({ description: 'Of Git' }));
      await applied();
      await review(ana);
      await confirm(ana);
      const merge = mergeOf(ana);
      await merge.getByText(`Declared by ${GIT} meanwhile`).waitFor();
      for (const words of ['By Ana', 'Of Git']) await merge.getByText(words, { exact: true }).first().waitFor();
      expect(await merge.getByRole('radiogroup').count()).toBe(0);
      await ana.look('an edited field that was declared meanwhile');
      await merge.getByRole('button', { name: 'Show mine as a declaration' }).click();
      const copy = ana.page.getByRole('dialog', { name: 'Take the change to where it is declared' });
      await copy
        .getByText(/description: By Ana/)
        .first()
        .waitFor();
      await copy.getByRole('button', { name: 'Back to the form' }).click();
      await merge.getByRole('button', { name: 'Go on with this' }).click();
      await ana.page.getByText('Nothing is changed yet.').waitFor();
      expect(await field(ana, 'Description').inputValue()).toBe('Of Git');
      expect(await field(ana, 'Description').isDisabled()).toBe(true);
      expect((await stored())?.description).toBe('Of Git');
    });

    test('declares it with the value that it has: the plan says that the edit does not stay', async () => {
      await openForm(ana);
      await ana.page.getByText('People are asked for consent', { exact: true }).click();
      await declare(shop({ consentRequired: false }));
      await applied();
      await review(ana);
      const dialog = ana.page.getByRole('dialog');
      await dialog.getByText(/will set it\s+back to what it declares/).waitFor();
      await dialog.getByText('consentRequired').first().waitFor();
      await ana.look('the plan of an edit that a manager sets back');
      await dialog.getByRole('button', { name: 'Back to editing' }).click();
      expect((await stored())?.consentRequired).toBe(false);
    });
  });

  describe('a hold', () => {
    test('is placed and ended in the console; the operator waits, then repairs, and each console shows it', async () => {
      await openForm(ana);
      await openObject(ben);
      await hold(ana, 'INC-1: the shop is down');
      await field(ana, 'Name').fill('By hand');
      await review(ana);
      const dialog = ana.page.getByRole('dialog');
      await dialog.getByText('By hand').waitFor();
      expect(await dialog.getByText('Nothing changes.').count()).toBe(0);
      await ana.look('the plan of an edit under a hold');
      await confirm(ana);
      await ana.heading(clientId);
      const message = await eventually(async () => {
        const said = await heldNow();
        expect(said).toBeDefined();
        return said;
      });
      expect(message?.replace(/until [-0-9T:]+Z/, 'until …')).toBe(
        `client ${clientId} is held by ana until …: INC-1: the shop is down; it differs in name`,
      );
      // a new version changes the rest, and leaves what is held
      await declare(shop(), { clientId: 'blog', name: 'Blog' });
      await eventually(async () => expect(await idOf('blog')).toBeDefined());
      expect((await stored())?.name).toBe('By hand');
      await shows(ben, 'By hand');
      await ben.page.getByText('INC-1: the shop is down').waitFor();
      await ben.look('an object that another administrator holds');
      await ben.page.getByRole('button', { name: 'End the hold', exact: true }).click();
      await Promise.all([shows(ana, 'Shop'), shows(ben, 'Shop'), noHold(ana), noHold(ben)]);
      expect((await stored())?.name).toBe('Shop');
      await eventually(async () => expect(await heldNow()).toBeUndefined());
      expect(await holds()).toEqual([]);
    });

    test('ends by itself: the declared value returns, also in an open form', async () => {
      const until = Date.now() + 12_000;
      await land.client.call(placeHold, {
        params,
        body: { what: [{ kind: 'client', key: clientId }], reason: 'INC-2', until },
      });
      await openForm(ana);
      await ana.page.getByText('INC-2').waitFor();
      await field(ana, 'Name').fill('By hand');
      await review(ana);
      await confirm(ana);
      await ana.heading(clientId);
      await openForm(ben);
      expect(await field(ben, 'Name').inputValue()).toBe('By hand');
      await eventually(async () => expect(await heldNow()).toContain('INC-2'));
      await Promise.all([shows(ana, 'Shop'), noHold(ana), noHold(ben)]);
      await expect.poll(() => field(ben, 'Name').inputValue()).toBe('Shop');
      expect(await field(ben, 'Name').isDisabled()).toBe(true);
      const { body: events } = await land.client.call(listEvents, { params, query: { type: 'HOLD_ENDED', limit: 1 } });
      expect(events).toMatchObject([{ data: { reason: 'INC-2', because: 'expired' } }]);
    });
  });

  describe('a held object that Git deletes', () => {
    /** What the database keeps of the client. */
    async function traces(): Promise<Record<string, number>> {
      const pool = openPool(land.databaseUrl);
      try {
        const [row] = await sqlOver(pool)<Record<string, number>>`
          select (select count(*)::int from managed_object where realm_id = ${realm} and key = ${clientId}) as owned,
            (select count(*)::int from held_object where realm_id = ${realm}) as held,
            (select count(*)::int from hold where realm_id = ${realm}) as holds,
            (select count(*)::int from client where realm_id = ${realm} and client_id = ${clientId}) as clients`;
        return row ?? {};
      } finally {
        await pool.end();
      }
    }
    const gone = { owned: 0, held: 0, holds: 0, clients: 0 };
    const holdAndEdit = async () => {
      await openForm(ana);
      await hold(ana, 'INC-3');
      await field(ana, 'Name').fill('By hand');
      await review(ana);
      await confirm(ana);
      await ana.heading(clientId);
    };

    test('stays until the hold ends; then it goes, and nothing of it is left', async () => {
      await holdAndEdit();
      await declare({ clientId: 'blog', name: 'Blog' });
      await eventually(async () => expect(await heldNow()).toMatch(/is held by ana .*; delete waits$/));
      expect((await stored())?.name).toBe('By hand');
      await openObject(ben);
      await ben.page.getByText('A hold keeps this as it is').waitFor();
      await ben.page.getByText('is deleted then').waitFor();
      await ana.open(`/realms/${realm}/declared?tab=holds`);
      await ana.page
        .getByRole('row')
        .filter({ hasText: `client ${clientId}` })
        .waitFor();
      await ana.page.getByRole('button', { name: 'End now' }).click();
      await ana.page.getByText('No hold stands').waitFor();
      await ben.page.getByText('It may have been deleted meanwhile').waitFor({ timeout: 60_000 });
      expect(await ben.page.getByRole('link', { name: 'Edit' }).count()).toBe(0);
      await ben.look('an object that was deleted in Git');
      await eventually(async () => expect(await heldNow()).toBeUndefined());
      expect(await traces()).toEqual(gone);
      expect(await owned()).not.toContain(clientId);
      await ana.open(`/realms/${realm}/clients`);
      await ana.page.getByRole('row').filter({ hasText: /blog/ }).waitFor();
      expect(await ana.page.getByRole('row').filter({ hasText: clientId }).count()).toBe(0);
      await ana.open(`/realms/${realm}/declared?tab=history`);
      await ana.page.getByRole('row').filter({ hasText: GIT }).first().click();
      await ana.page.getByRole('region', { name: 'Changes' }).getByText(clientId).first().waitFor();
      expect([...ana.complaints(), ...ben.complaints()]).toEqual([]);
    });

    test('and that the administrator deletes first: the end of the hold leaves nothing', async () => {
      await holdAndEdit();
      await declare({ clientId: 'blog', name: 'Blog' });
      await eventually(async () => expect(await heldNow()).toMatch(/delete waits$/));
      await ana.page.getByRole('button', { name: 'More actions' }).click();
      await ana.page.getByRole('menuitem', { name: 'Delete the client' }).click();
      await ana.page.getByLabel(`Type ${clientId} to go on`).fill(clientId);
      await ana.page.getByRole('alertdialog').getByRole('button', { name: 'Delete the client' }).click();
      await ana.heading('Clients');
      await ana.open(`/realms/${realm}/declared?tab=holds`);
      await ana.page.getByRole('button', { name: 'End now' }).click();
      await ana.page.getByText('No hold stands').waitFor();
      await eventually(async () => {
        expect(await heldNow()).toBeUndefined();
        expect(await traces()).toEqual(gone);
      });
    });

    test('with its whole Realm: nothing declares it, and the hold keeps it from the next Realm, too', async () => {
      await holdAndEdit();
      await openObject(ben);
      await land.kubectl('delete', 'realm.realmkeeper.dev', NAME, '--timeout=60s');
      expect((await stored())?.name).toBe('By hand');
      expect(await owned()).toEqual([]);
      await ben.page.getByText(`Declared by ${GIT}`).first().waitFor({ state: 'detached', timeout: 60_000 });
      await declare(shop());
      await eventually(async () => expect(await heldNow()).toContain(`client ${clientId} is held by ana`));
      expect((await stored())?.name).toBe('By hand');
      await ana.open(`/realms/${realm}/declared?tab=holds`);
      await ana.page.getByRole('button', { name: 'End now' }).click();
      await ana.page.getByText('No hold stands').waitFor();
      await shows(ben, 'Shop');
    });
  });
});
