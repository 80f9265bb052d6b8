// A real browser's part of `realmctl login`: it is started, signs the person in, asks them, and shows that they can go back.
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../support/chromium.ts';
import { eventually } from '../support/operator.ts';
import { realmctl, startRealmctl } from '../support/realmctl.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let browser: Browser;
let folder: string;
beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  folder = await mkdtemp(path.join(os.tmpdir(), 'realmctl-'));
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('the browser signs in, the person agrees, sees that they can go back, and the terminal goes on', async () => {
  const env = { REALMCTL_CONFIG: path.join(folder, 'config.json') };
  const cli = startRealmctl(env, ['login', server.baseUrl, '--no-browser']);
  const address = (await cli.said(/http\S+\/authorize\S+/)).trim();
  const page = await (await browser.newContext({ viewport: { width: 390, height: 700 } })).newPage();
  const blocked: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') blocked.push(message.text());
  });
  await page.goto(address);
  await page.getByLabel('Username').fill('admin');
  await page.getByLabel('Password', { exact: true }).fill(ADMIN_PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Administer this server with all the rights that you have').waitFor();
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/consent.png` });
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/done.png` });
  expect(blocked.filter((text) => !text.includes('favicon'))).toEqual([]);
  expect((await cli.ended).code).toBe(0);
  expect((await realmctl(env, ['whoami', '-o', 'name'])).stdout.trim()).toBe('admin');
});

test('the program that BROWSER names is given the address, where there is a terminal or not', async () => {
  const opener = path.join(folder, 'opener');
  const opened = path.join(folder, 'opened');
  await writeFile(opener, `#!/bin/sh\nprintf %s "$1" > ${opened}\n`);
  await chmod(opener, 0o755);
  const cli = startRealmctl({ REALMCTL_CONFIG: path.join(folder, 'other.json'), BROWSER: opener }, [
    'login',
    server.baseUrl,
    '--browser',
  ]);
  const address = (await cli.said(/http\S+\/authorize\S+/)).trim();
  await eventually(async () => expect(await readFile(opened, 'utf8')).toBe(address));
  cli.interrupt();
  expect((await cli.ended).code).toBe(130);
});
