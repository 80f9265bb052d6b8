// Owns: the flow editor of the console: moving, adding and deleting steps by keyboard, the server's check, saving after the plan,
// two administrators at once, the simulation, where a flow is in use.
// Does not own: the rules of a tree (test of flows), the generic pages (kinds.test.ts).
// Implements: decisions "Console": flows are edited as a tree.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addedAs, neverAsked } from '../../console/pages/flows/never-asked.ts';
import {
  bodyOf,
  indented,
  insert,
  moved,
  movedTo,
  newStep,
  outdented,
  placed,
  type Tree,
  without,
} from '../../console/pages/flows/tree-model.ts';
import { putUserAdminRoles } from '../../server/contract/admin-access.ts';
import { createClient } from '../../server/contract/clients.ts';
import { createFlow, getFlow, putFlow } from '../../server/contract/flows.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { getSettings } from '../../server/contract/settings.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { createUser } from '../../server/contract/users.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { createPerson } from '../support/person.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
const realm = 'acme';
const params = { realm };
const VIEWER = { username: 'vera', password: 'vera sees flows only', realm };
const HOSTILE = `"><img src=x onerror="globalThis.hacked=1">`;
beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm, displayName: 'Acme' } });
  for (const alias of ['keys', 'twice', 'kiosk'])
    await server.admin.call(createFlow, { params, body: { alias, copyFromAlias: 'browser' } });
  const { body } = await server.admin.call(createUser, {
    params,
    body: { username: VIEWER.username, password: VIEWER.password, email: 'vera@example.com' },
  });
  await server.admin.call(putUserAdminRoles, {
    params: { realm, userId: body?.id ?? '' },
    body: { grants: [{ role: 'realm-viewer', realm }] },
  });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const namesOf = async (alias: string) => {
  const { body } = await server.admin.call(getFlow, { params: { realm, alias } });
  return (body?.executions ?? [])
    .filter(({ parentId }) => parentId === null)
    .map((one) => one.authenticatorId ?? one.name);
};

test('moves of a tree keep it a tree, and what it can’t take changes nothing', () => {
  const password = newStep('username-password', 'REQUIRED');
  const group = newStep(null, 'CONDITIONAL');
  const otp = newStep('otp', 'REQUIRED');
  const tree = [password, group, otp];
  const numbers = (steps: Tree) =>
    placed(steps).map(({ step, number }) => `${number} ${step.authenticatorId ?? 'group'}`);
  expect(numbers(moved(tree, otp.key, -1))).toEqual(['1 username-password', '2 otp', '3 group']);
  expect(moved(tree, otp.key, 1)).toBe(tree);
  const inside = indented(tree, otp.key);
  expect(numbers(inside)).toEqual(['1 username-password', '2 group', '2.1 otp']);
  expect(indented(tree, group.key)).toBe(tree);
  expect(numbers(outdented(inside, otp.key))).toEqual(['1 username-password', '2 group', '3 otp']);
  expect(movedTo(inside, group.key, otp.key, 'before')).toBe(inside);
  expect(numbers(movedTo(inside, otp.key, password.key, 'before'))).toEqual([
    '1 otp',
    '2 username-password',
    '3 group',
  ]);
  expect(movedTo(tree, otp.key, password.key, 'on')).toBe(tree);
  expect(numbers(insert(tree, group.key, newStep('risk', 'REQUIRED')))).toContain('2.1 risk');
  expect(numbers(without(inside, group.key))).toEqual(['1 username-password']);
  let deep: Tree = tree;
  let last = group.key;
  for (let level = 2; level <= 6; level++) {
    const next = newStep(null, 'REQUIRED');
    deep = insert(deep, last, next);
    last = next.key;
  }
  expect(Math.max(...placed(deep).map(({ level }) => level))).toBe(4);
  expect(bodyOf(inside)[1]?.executions).toHaveLength(1);
});

test('the steps that no sign-in asks for are named; a step beside a required one is added as required', () => {
  const authenticator = (id: string, category: 'METHOD' | 'CONDITION' = 'METHOD') =>
    [id, { id, category, displayName: id, factorClass: 'NONE', levelOfAssurance: 1, configSchema: {} }] as const;
  const registry = new Map([
    authenticator('username-password'),
    authenticator('otp'),
    authenticator('mfa-enabled', 'CONDITION'),
  ]);
  const idle = (steps: Tree) => [...neverAsked(steps, registry).keys()];
  const password = newStep('username-password', 'REQUIRED');
  const otp = newStep('otp', 'ALTERNATIVE');
  const condition = newStep('mfa-enabled', 'REQUIRED');
  expect(idle([password, otp])).toEqual([otp.key]);
  expect(addedAs([password, otp], otp, registry)).toBe('REQUIRED');
  expect(idle([{ ...password, requirement: 'ALTERNATIVE' }, otp])).toEqual([]);
  expect(addedAs([otp], otp, registry)).toBe('ALTERNATIVE');
  expect(idle([{ ...password, requirement: 'DISABLED' }, otp])).toEqual([]);
  const group = { ...newStep(null, 'CONDITIONAL'), children: [otp] };
  expect(idle([password, group])).toEqual([group.key]);
  expect(idle([password, { ...group, children: [condition, otp] }])).toEqual([]);
  expect(idle([password, { ...group, children: [{ ...condition, requirement: 'DISABLED' }, otp] }])).toEqual([
    group.key,
  ]);
});

test('by keyboard: a step is moved, the server says what is wrong, undo mends it, a group is added and saved', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/flows`);
  await page.getByRole('row', { name: /keys/ }).click();
  await heading('keys');
  const tree = page.getByRole('treegrid', { name: 'Steps of the flow' });
  await tree.waitFor();
  await look('a flow');
  await tree.getByRole('row', { name: /^2 Second factor/ }).click();
  await page.keyboard.press('Alt+ArrowUp');
  await page.getByText('Second factor is now 1.').waitFor();
  await page.keyboard.press('Alt+ArrowUp');
  await page.getByText('Move up: not possible here.').waitFor();
  await page.keyboard.press('Control+z');
  await page.getByText('The last edit is undone.').waitFor();
  await page.getByText('The tree is as it was saved.').waitFor();

  await tree.getByRole('row', { name: /^1 / }).first().click();
  await page.keyboard.press('Delete');
  await page.getByText(/to correct before it can be saved/).waitFor();
  expect(await page.getByRole('button', { name: 'Review and save' }).isDisabled()).toBe(true);
  await look('a flow with a fault');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('The tree is as it was saved.').waitFor();

  await tree.getByRole('row', { name: /^3 Step-up at risk/ }).click();
  await page.keyboard.press('Insert');
  const adds = page.getByRole('dialog', { name: 'Add a step' });
  await adds.getByLabel('Find a step').fill('network');
  await look('the steps to add');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText(/is now 3\.\d/).waitFor();
  await page.getByText(/to correct before it can be saved/).waitFor();
  await page.getByRole('button', { name: 'Add network' }).click();
  await page.getByLabel('Networks, 1').fill('192.0.2.0/24');
  await page.getByText('The server accepts this tree').waitFor();
  await page.getByRole('button', { name: 'Review and save' }).click();
  const review = page.getByRole('dialog', { name: 'Save keys' });
  await review.getByText('192.0.2.0/24').first().waitFor();
  await look('the plan of a flow');
  await review.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved the flow.').waitFor();
  const { body } = await server.admin.call(getFlow, { params: { realm, alias: 'keys' } });
  expect(body?.executions?.find(({ authenticatorId }) => authenticatorId === 'network')).toMatchObject({
    config: { networks: ['192.0.2.0/24'] },
    condition: true,
  });
  await close();
});

test('two administrators at once: the steps take either side', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/flows/twice`);
  await heading('twice');
  await page.getByRole('row', { name: /^3 / }).click();
  await page.keyboard.press('Delete');
  await page.getByText('The server accepts this tree').waitFor();
  await server.admin.call(putFlow, {
    params: { realm, alias: 'twice' },
    body: { executions: [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }] },
  });
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  const merge = page.getByRole('alertdialog', { name: 'Somebody else changed this meanwhile' });
  await merge.waitFor();
  await look('two changes of a flow');
  await merge.getByRole('button', { name: 'Go on with this' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved the flow.').waitFor();
  expect(await namesOf('twice')).toEqual(['username-password', 'Second factor']);
  await close();
});

test('steps that a manager declares meanwhile stay; the edit is shown as a declaration', async () => {
  const manager = 'k8s:prod/identity/Flow/twice';
  const declared = ['username-password', 'otp'].map((authenticatorId) => ({
    authenticatorId,
    requirement: 'REQUIRED' as const,
  }));
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/flows/twice`);
  await heading('twice');
  await page.getByRole('row', { name: /^2 / }).click();
  await page.keyboard.press('Delete');
  await page.getByText('The server accepts this tree').waitFor();
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).waitFor();
  const body = { flows: [{ alias: 'twice', executions: declared }] };
  await server.admin.call(importRealm, { params, query: { manager }, body });
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  const merge = page.getByRole('alertdialog', { name: 'Somebody else changed this meanwhile' });
  await merge.getByText('Declared by Flow identity/twice meanwhile').waitFor();
  await look('steps that were declared meanwhile');
  await merge.getByRole('button', { name: 'Show mine as a declaration' }).click();
  const copy = page.getByRole('dialog', { name: 'Take the change to where it is declared' });
  await copy
    .getByText(/authenticatorId: username-password/)
    .first()
    .waitFor();
  await copy.getByRole('button', { name: 'Back to the form' }).click();
  await merge.getByRole('button', { name: 'Go on with this' }).click();
  await page.getByText('A manager declares the steps of this flow').waitFor();
  expect(await namesOf('twice')).toEqual(['username-password', 'otp']);
  await close();
});

test('a simulation says which steps a user is asked for, and its question is in the address', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/flows/browser?tab=try`);
  await heading('browser');
  await page.getByText('Choose a user').first().waitFor();
  await page.getByRole('combobox', { name: 'User' }).fill('ver');
  await page.getByRole('option', { name: /vera/ }).click();
  await page.getByText('The user is signed in, at level of assurance 1.').waitFor();
  await page.getByLabel('Level of assurance').fill('2');
  await page.getByRole('heading', { name: 'What the user is asked for' }).waitFor();
  await look('a simulation');
  expect(page.url()).toContain('level=2');
  await page.reload();
  await heading('browser');
  await page.getByRole('heading', { name: 'What the user is asked for' }).waitFor();
  await page.getByLabel('IP address').fill('not an address');
  await page.locator('.fault').first().waitFor();
  await close();
});

test('edits are simulated and replayed before they are saved: who would be locked out', async () => {
  const alias = 'browser';
  const person = createPerson(server.baseUrl);
  const signedIn = await person.fill(await person.open(`/realms/${realm}/login`), {
    username: VIEWER.username,
    password: VIEWER.password,
  });
  expect(signedIn.url).toContain('/account');
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/flows/${alias}`);
  await heading(alias);
  await page.getByRole('link', { name: 'Replay' }).click();
  await page.getByText('This tries the saved flow').waitFor();
  await page.getByText('Nothing changes for these users').waitFor();
  await look('a replay of the saved flow');

  await page.getByRole('link', { name: /^Steps/ }).click();
  const tree = page.getByRole('treegrid', { name: 'Steps of the flow' });
  await tree.getByRole('row', { name: /^1 / }).first().click();
  await page.keyboard.press('Insert');
  await page.getByLabel('Find a step').fill('push');
  await page.getByRole('option').first().click();
  await page.getByText(/is now 2/).waitFor();
  await page.getByLabel('Requirement').first().click();
  await page.getByRole('option', { name: /Required/ }).click();
  await page.getByText('The server accepts this tree').waitFor();

  await page.getByRole('link', { name: 'Replay' }).click();
  await page.getByText('This tries the steps as you edited them').waitFor();
  const affected = page.getByRole('row', { name: /vera/ });
  await affected.getByText(/Asked for more|Locked out/).waitFor();
  await page.getByRole('link', { name: '24 hours' }).click();
  await affected.waitFor();
  expect(page.url()).toContain('days=1');
  await look('a replay of edited steps');

  await page.getByRole('link', { name: 'Who signs in how' }).click();
  await page.getByText('This simulates the steps as you edited them').waitFor();
  await page.getByRole('combobox', { name: 'User' }).fill('ver');
  await page.getByRole('option', { name: /vera/ }).click();
  await page.getByRole('heading', { name: 'What the user is asked for' }).waitFor();
  await look('a simulation of edited steps');
  await page.getByLabel('IP address').fill('not an address');
  await page.locator('.fault').first().waitFor();
  expect(await namesOf(alias)).toEqual(['username-password', 'Second factor', 'Step-up at risk']);
  await close();
});

test('where a flow is in use, and binding the realm to it after the plan', async () => {
  await server.admin.call(createClient, {
    params,
    body: { clientId: HOSTILE, tokenEndpointAuthMethod: 'none', flowOverride: 'kiosk' },
  });
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/flows/kiosk?tab=used`);
  await heading('kiosk');
  await page.getByRole('row', { name: /onerror/ }).waitFor();
  await look('where a flow is in use');
  expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
  await page.getByRole('button', { name: 'Sign the realm in with this flow' }).click();
  await page.getByRole('dialog').getByText('browserFlow').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Bind the flow' }).click();
  await page.getByText('signs the realm in', { exact: true }).waitFor();
  const { body } = await server.admin.call(getSettings, { params });
  expect(body?.browserFlow).toBe('kiosk');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Rename the flow' }).click();
  await page.getByLabel('Name of the flow').fill('browser');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename', exact: true }).click();
  await page.getByText('Choose another name.').waitFor();
  await page.getByLabel('Name of the flow').fill('kiosks');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename', exact: true }).click();
  await heading('kiosks');
  await close();
});

test('an administrator who may only read sees the tree, and nothing to change it with', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser }, { as: VIEWER });
  await open(`/realms/${realm}/flows/browser`);
  await heading('browser');
  await page.getByText('Changing it needs the permission flows:write').waitFor();
  await page.getByRole('row', { name: /^2 / }).first().click();
  for (const name of ['Review and save', 'Add a step', 'More actions'])
    expect(await page.getByRole('button', { name }).count(), name).toBe(0);
  await page.keyboard.press('Delete');
  expect(await page.getByRole('row', { name: /^2 / }).count()).toBe(1);
  await look('a flow that may only be read');
  await close();
});

/** Presses Tab until an element of the page has the focus. */
async function tabTo(page: Page, wanted: string) {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab');
    if (await page.locator(`:focus:is(${wanted})`).count()) return;
  }
  throw new Error(`Tab does not lead to ${wanted}`);
}

/** Waits until the row that begins so has the focus. */
const rowInFocus = (page: Page, text: string) =>
  page
    .locator('.tree-row:focus')
    .and(page.getByRole('row', { name: text }))
    .waitFor();

for (const direction of ['ltr', 'rtl'] as const) {
  const [into, out] = direction === 'ltr' ? ['Alt+ArrowRight', 'Alt+ArrowLeft'] : ['Alt+ArrowLeft', 'Alt+ArrowRight'];
  test(`without a pointer, ${direction}: add, move, indent, delete, undo and save; the focus is at the step`, async () => {
    const alias = `keyboard-${direction}`;
    await server.admin.call(createFlow, { params, body: { alias, copyFromAlias: 'browser' } });
    // as a window of 1440 px at a zoom of 200 %
    const { page, open, heading, look, close } = await openConsole(
      { server, browser },
      { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 },
    );
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await page.addInitScript(`localStorage.setItem('realmkeeper.direction', '${direction}')`);
    await open(`/realms/${realm}/flows/${alias}`);
    await heading(alias);
    await page.getByRole('row', { name: /^1 Username/ }).waitFor();
    expect(await page.evaluate('document.documentElement.dir')).toBe(direction);
    await press('Tab', 'Enter');
    await tabTo(page, '.tree-row');
    await rowInFocus(page, '1 Username and password');
    await press('ArrowDown', 'Insert');
    await page.getByLabel('Find a step').pressSequentially('recovery');
    await page.getByRole('option', { name: /Recovery code/ }).waitFor();
    await press('Tab', 'Enter');
    await rowInFocus(page, '2.6 Recovery code');
    await press(out);
    await rowInFocus(page, '3 Recovery code');
    await press('Alt+ArrowDown');
    await rowInFocus(page, '4 Recovery code');
    await press(into);
    await rowInFocus(page, '3.6 Recovery code');
    await press('Alt+ArrowUp');
    await rowInFocus(page, '3.5 Recovery code');
    await press('Delete');
    await page.getByText('The step is deleted.').waitFor();
    await rowInFocus(page, '3.5 Recovery code');
    await press('Control+z');
    await rowInFocus(page, '3.5 Recovery code');
    await page.getByRole('row', { name: '3.6 Recovery code' }).waitFor();

    // to the last step and back
    await press('Home', 'Delete');
    await rowInFocus(page, '1 Second factor');
    await press('Delete', 'Delete');
    await page.getByText('No steps yet').waitFor();
    await page.locator('button:focus', { hasText: 'Add a step' }).waitFor();
    await press('Control+z', 'Control+z', 'Control+z');
    await rowInFocus(page, '1 Username and password');
    await page.getByText('The server accepts this tree').waitFor();
    await look(`a flow at 200 %, ${direction}`);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);

    await page.getByRole('button', { name: 'Review and save' }).focus();
    await press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true, disabled: false }).waitFor();
    await tabTo(page, '.button.primary');
    await press('Enter');
    await page.getByText('Saved the flow.').waitFor();
    // the button that opened the dialog can't be pressed any more
    await page.locator('h1:focus').waitFor();
    const { body } = await server.admin.call(getFlow, { params: { realm, alias } });
    expect(body?.executions?.filter(({ authenticatorId }) => authenticatorId === 'recovery-codes')).toHaveLength(3);
    await close();
  });
}

test('on a phone and from right to left, nothing is wider than the window', async () => {
  const { page, open, heading, look, close } = await openConsole(
    { server, browser },
    { viewport: { width: 390, height: 844 } },
  );
  await open(`/realms/${realm}/flows/browser`);
  await page.evaluate(`localStorage.setItem('realmkeeper.direction', 'rtl')`);
  await page.reload();
  await heading('browser');
  await page.getByRole('row', { name: /^2 / }).first().click();
  await look('a flow on a phone');
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  await close();
});
