// Owns: look and texts: branding with its contrast, texts by language, messages with their preview.
// Does not own: the pages and mails themselves (test/server/features).
// Implements: decisions "Console": what is written is seen before it is saved, and nothing of it runs in the console.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  getMessageTemplate,
  listMessageTemplates,
  putMessageTemplate,
} from '../../server/contract/message-templates.ts';
import { messageTexts } from '../../server/contract/message-texts.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { getSettings, putSettings } from '../../server/contract/settings.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { consoleAdministrator } from '../support/console-administrators.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
const realm = 'acme';
const params = { realm };

beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  await server.admin.call(createRealm, { body: { realm, displayName: 'Acme' } });
  await server.admin.call(putSettings, { params, body: { supportedLocales: ['en', 'de', 'ar'] } });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** Evaluates an expression about the page in the preview's frame: `root` is its html element, `title` the frame's. */
const insideOf = (page: Page) => (expression: string) =>
  page.evaluate(
    `((frame) => frame && ((root, title) => ${expression})(frame.contentDocument.documentElement, frame.title))(document.querySelector('iframe'))`,
  );

test('branding: a pale colour is told of, and saved after the plan', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/look`);
  await heading('Look and texts');
  const side = page.getByRole('navigation', { name: 'Main' }).first();
  // the lists of own words are reached from the tabs
  for (const name of ['Message templates', 'Message texts'])
    expect(await side.getByRole('link', { name }).count()).toBe(0);
  await look('branding');
  await page.getByLabel('Primary colour: as hex').fill('#ffe');
  await page.getByText('so links are written in').first().waitFor();
  await page.getByLabel('Primary colour: as hex').fill('red');
  await page.getByText('A colour is written as #1a2b3c').waitFor();
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByText('must be a hex colour').first().waitFor();
  await page.getByLabel('Primary colour: as hex').fill('#0a7c66');
  for (const view of ['Dark', 'Phone', 'Right to left']) await page.getByRole('button', { name: view }).click();
  expect(new URL(page.url()).search).toBe('?dark=1&phone=1&rtl=1');
  const inside = insideOf(page);
  await expect.poll(() => inside('title')).toBe('Sign-in page in dark colours');
  await expect
    .poll(() => inside('getComputedStyle(root.querySelector("button[value=next]")).backgroundColor'))
    .toBe('rgb(10, 124, 102)');
  expect(await inside('root.querySelector("h1").innerText')).toBe('Sign in');
  await expect
    .poll(() => inside('[root.dir, root.clientWidth, getComputedStyle(root).colorScheme]'))
    .toEqual(['rtl', 390, 'dark']);
  await look('a page in the dark');
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Nothing is changed yet.').waitFor();
  expect((await server.admin.call(getSettings, { params })).body?.primaryColor).toBe('#0a7c66');
  await close();
});

test('texts: a placeholder that the built-in text lacks is refused at its line; the page says the new words', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/look/texts`);
  await heading('Look and texts');
  await page.getByRole('link', { name: 'German' }).click();
  await page.getByText('The language has no texts of the realm’s own.').waitFor();
  await page.getByRole('button', { name: 'Add a text' }).click();
  await page.getByLabel('Key', { exact: true }).fill('password.title');
  await page.getByLabel('Text of password.title', { exact: true }).fill('Willkommen {user}');
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.locator('.fault, .note.bad').filter({ hasText: 'user' }).first().waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await look('a text that is refused');
  await page.getByLabel('Text of password.title', { exact: true }).fill('Willkommen zurück');
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved the texts.').waitFor();
  await look('texts');
  await page.reload();
  expect(await page.getByLabel('Text of password.title', { exact: true }).inputValue()).toBe('Willkommen zurück');
  await close();
});

test('texts: a built-in text is found by its words, and replaced', async () => {
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/look/texts?locale=en`);
  await page.getByLabel('Find built-in texts').fill('forgot');
  const row = page
    .getByRole('row')
    .filter({ hasText: /forgot/i })
    .first();
  await row.waitFor();
  await look('the built-in texts');
  const button = row.getByRole('button', { name: /^Replace / });
  const key = String(await button.getAttribute('aria-label')).replace('Replace ', '');
  await button.click();
  await page.getByLabel(`Text of ${key}`, { exact: true }).waitFor();
  await row.getByText('replaced').waitFor();
  await page.getByText('The texts are changed.').waitFor();
  await close();
});

test('a message: the preview shows what is typed, and markup in it neither runs nor loads', async () => {
  const { page, open, heading, look, complaints, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/look/messages`);
  await page.getByRole('row', { name: /A forgotten password/ }).click();
  await heading('A forgotten password');
  await page
    .locator('.mail')
    .getByText(/example/)
    .first()
    .waitFor();
  await look('a message');
  await page
    .locator('.mail')
    .getByText(/\bAcme\b/)
    .first()
    .waitFor();
  const languages = page.getByRole('navigation', { name: 'Languages' });
  expect(await languages.getByRole('link', { name: 'Other languages' }).getAttribute('href')).toMatch(
    /settings\?group=general$/,
  );
  const editor = page.getByRole('textbox', { name: 'Text', exact: true });
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(
    '<style>p { color: red }</style><h1 style="color:red;background:url(https://evil.example/x)">Hello {{user}}</h1><img src=x onerror="globalThis.hacked=1" alt="A lamp"><script>globalThis.hacked=1</script><p><a href="{{link}}">Go on</a></p>',
  );
  await page.getByText('The text is HTML').click();
  await page.locator('.mail .no-picture').getByText('A lamp').waitFor();
  await page.locator('.mail').getByText('Hello Ada Lovelace', { exact: true }).waitFor();
  expect(await page.locator('.mail :is(a, img, script)').count()).toBe(0);
  expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
  expect(complaints()).toEqual([]);
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('<p>Hello {{nobody}}</p>');
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page
    .getByText(/there is no placeholder/)
    .first()
    .waitFor();
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('<p>Hello {{user}}, <a href="{{link}}">go on</a></p>');
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved the message.').waitFor();
  const templates = (await server.admin.call(listMessageTemplates, { params })).body ?? [];
  expect(templates.find(({ templateKey }) => templateKey === 'reset-password-email')).toMatchObject({ html: true });
  await page.getByRole('link', { name: /Arabic/ }).click();
  await page.getByRole('button', { name: 'Write them anew' }).click();
  await page.locator('.mail[dir="rtl"]').waitFor();
  await look('a message in Arabic');
  await close();
});

test('two administrators at a message: the second sees both texts, and takes one', async () => {
  const key = { templateKey: 'otp-email', locale: 'en' } as const;
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/look/messages/otp-email?locale=en`);
  const subject = page.getByLabel('Subject', { exact: true });
  await subject.fill('Mine: {{code}}');
  await server.admin.call(putMessageTemplate, { params, body: { ...key, subject: 'Theirs: {{code}}' } });
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const both = page.getByRole('alertdialog', { name: 'Somebody else changed this meanwhile' });
  await both.waitFor();
  await look('two changes of a message');
  await both.getByRole('button', { name: 'Go on with this' }).click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved the message.').waitFor();
  const { body } = await server.admin.call(getMessageTemplate, { params: { ...params, ...key, channel: 'EMAIL' } });
  expect(body?.subject).toBe('Mine: {{code}}');
  await close();
});

test('a stored message is sent as a test; without a gateway the page says so', async () => {
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/look/messages/otp-email?locale=en`);
  await page.getByRole('button', { name: 'Send a test message…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Send a test message' });
  await dialog.getByLabel('E-mail address').fill('ada@example.com');
  await look('the test of a message');
  await dialog.getByRole('button', { name: 'Send the test' }).click();
  await dialog.getByText('No provider of EMAIL is enabled').waitFor();
  await close();
});

test('a reader of messages changes nothing, and asks for no preview that would be refused', async () => {
  const as = await consoleAdministrator(server, realm, 'proof-reader', ['messaging:read', 'realm:read']);
  const { page, open, look, complaints, close } = await openConsole(
    { server, browser },
    { as, viewport: { width: 390, height: 844 } },
  );
  await open(`/realms/${realm}/look`);
  await page.getByText('reading them needs the permission settings:read').waitFor();
  await open(`/realms/${realm}/look/messages/otp-email`);
  await page.getByText('The preview needs the permission messaging:write.').waitFor();
  expect(await page.getByRole('button', { name: 'Review and save' }).count()).toBe(0);
  await look('a message of a reader, on a phone');
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  await open(`/realms/${realm}/look/messages/nothing`);
  await page.getByText('There is no such message').waitFor();
  expect(complaints()).toEqual([]);
  await close();
});

test('two administrators at once: branding and texts are merged, and nothing is lost', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/look`);
  await heading('Look and texts');
  await page.getByLabel('Primary colour: as hex').fill('#225588');
  await page.getByLabel('Welcome text').fill('From here');
  await server.admin.call(putSettings, { params, body: { welcomeText: 'From there', backgroundColor: '#fafafa' } });
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  const merge = page.getByRole('alertdialog', { name: 'Somebody else changed this meanwhile' });
  await merge.getByText('Changed by somebody else alone, and kept.').waitFor();
  await merge.getByText('Background colour').waitFor();
  await look('a merge of branding');
  await merge.getByText('as it is now', { exact: true }).click();
  await merge.getByRole('button', { name: 'Go on with this' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved the branding.').waitFor();
  expect((await server.admin.call(getSettings, { params })).body).toMatchObject({
    primaryColor: '#225588',
    backgroundColor: '#fafafa',
    welcomeText: 'From there',
  });

  await server.admin.call(messageTexts.routes.create, {
    params,
    body: { locale: 'en', texts: { 'password.title': 'Hello' } },
  });
  await open(`/realms/${realm}/look/texts`);
  await page.getByLabel('Text of password.title', { exact: true }).fill('Good morning');
  await server.admin.call(messageTexts.routes.put, {
    params: { realm, locale: 'en' },
    body: { texts: { 'password.title': 'Good evening' } },
  });
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await merge.getByRole('button', { name: 'Go on with this' }).waitFor();
  await merge.getByText('as it is now', { exact: true }).click();
  await merge.getByRole('button', { name: 'Go on with this' }).click();
  await page.getByText('Nothing of yours is left to save.').waitFor();
  expect(await page.getByLabel('Text of password.title', { exact: true }).inputValue()).toBe('Good evening');
  expect(await page.getByRole('button', { name: 'Review and save' }).isDisabled()).toBe(true);
  await close();
});

test('the preview is the real page, with each page and language in the address, and nothing in it can be used', async () => {
  const { page, open, look, complaints, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}/look?page=account&locale=ar`);
  const inside = insideOf(page);
  await expect.poll(() => inside('root.innerText')).toContain('ada@example.com');
  expect(await inside('[title, root.lang, root.dir]')).toEqual(['Account page in light colours', 'ar', 'rtl']);
  await page.getByRole('textbox', { name: 'Custom CSS', exact: true }).click();
  await page.keyboard.insertText(
    '.card { border: 7px solid rgb(1, 2, 3) } </style><script>globalThis.hacked = 1</script>',
  );
  await page.getByLabel('Display name').fill('<img src=x onerror="globalThis.hacked=1">');
  await expect.poll(() => inside('getComputedStyle(root.querySelector(".card")).borderTopWidth')).toBe('7px');
  await expect.poll(() => inside('root.innerText')).toContain('<img src=x');
  expect(await inside('root.querySelectorAll("script, img, [autofocus]").length')).toBe(0);
  expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
  expect(await inside('[root.ownerDocument.body.inert, root.ownerDocument.URL]')).toEqual([true, 'about:blank']);
  await page.getByRole('button', { name: 'Consent' }).click();
  await expect.poll(() => inside('root.querySelectorAll("[name=decision]").length')).toBe(2);
  expect(new URL(page.url()).search).toBe('?page=consent&locale=ar');
  await look('the consent page');
  await open(`/realms/${realm}/look/texts?locale=de`);
  await expect.poll(() => inside('root.lang')).toBe('de');
  await page.getByLabel('Text of password.title', { exact: true }).fill('Noch nicht gespeichert');
  await expect.poll(() => inside('root.querySelector("h1").innerText')).toBe('Noch nicht gespeichert');
  await look('texts with their page');
  expect(complaints()).toEqual([]);
  await close();
});

test('a reader of the settings gets the sketch, and no preview that would be refused', async () => {
  const as = await consoleAdministrator(server, realm, 'look-reader', ['settings:read', 'message-texts:read']);
  const { page, open, look, close } = await openConsole({ server, browser }, { as });
  await open(`/realms/${realm}/look?dark=1`);
  await page.getByRole('img', { name: 'Sketch of the sign-in page in dark colours' }).waitFor();
  expect(await page.locator('iframe').count()).toBe(0);
  await look('a sketch for a reader');
  await open(`/realms/${realm}/look/texts`);
  await page.getByText('A preview of the pages needs the permission settings:write.').waitFor();
  await close();
});
