// Owns: the statistics on a realm's first page: totals beside the period before, charts and their tables, the period in the address.
// Does not own: what counts (test/server/features/statistics.test.ts), the rest of the page (access.test.ts).
// Implements: decisions "Console", "Statistics".
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../server/contract/clients.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { launchBrowser } from '../support/chromium.ts';
import { openConsole } from '../support/console.ts';
import { consoleAdministrator } from '../support/console-administrators.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const realm = 'acme';
const HOSTILE = `"><img src=x onerror="globalThis.hacked=1">`;
let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  server = await startTestServer();
  browser = await launchBrowser();
  for (const name of [realm, 'quiet', 'past']) await server.admin.call(createRealm, { body: { realm: name } });
  await server.admin.call(createClient, {
    params: { realm },
    body: { clientId: 'shop', tokenEndpointAuthMethod: 'none' },
  });
  // three in each hour of today and yesterday, two in those of the day before; and of 60 days
  await server.pool.query(
    `insert into statistic (realm_id, step, kind, at, key, count)
     select $1, 'hour', kind, date_trunc('hour', now()) - i * interval '1 hour', key, case when i < 24 then 3 else 2 end
     from generate_series(0, 72) i, (values ('sign-in', ''), ('failure', 'wrong'), ('risk', 'high'), ('token', ''), ('client', $2), ('delivery', 'dead')) k (kind, key)
     union all
     select $1, 'day', kind, date_trunc('day', now(), 'UTC') - i * interval '1 day', key, 50
     from generate_series(0, 59) i, (values ('sign-in', ''), ('failure', 'wrong'), ('token', ''), ('client', $2)) k (kind, key)`,
    [realm, HOSTILE],
  );
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test('totals stand beside those of the period before, and the period is in the address', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}`);
  await heading(realm);
  const total = (name: string) =>
    page
      .locator('.measures > div')
      .filter({ has: page.getByText(name, { exact: true }) })
      .locator('dd')
      .innerText();
  await expect.poll(() => total('Sign-ins')).toMatch(/^72\s+\+50 %, 48 in the 24 hours before$/);
  expect(await total('Deliveries given up')).toMatch(/^72\s+\+50 %/);
  await expect.poll(() => page.locator('figure canvas').count()).toBe(5);
  await look('the statistics of a day');
  await page.getByRole('link', { name: '30 days', exact: true }).click();
  await page.waitForURL(/period=30d/);
  await expect.poll(() => total('Sign-ins')).toMatch(/^1,500\s+±0 %, 1,500 in the 30 days before$/);
  await page.reload();
  await expect.poll(() => total('Sign-ins')).toMatch(/^1,500/);
  await page.getByText('Days are days in UTC.').waitFor();
  await page.goBack();
  await expect.poll(() => total('Sign-ins')).toMatch(/^72/);
  await page.getByRole('link', { name: '12 months', exact: true }).click();
  await expect.poll(() => total('Sign-ins')).toMatch(/no count of the period before$/);
  await close();
});

test('each chart has a title and the same as a table, by the keyboard; a client’s name is text', async () => {
  const { page, open, look, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}?period=7d`);
  const chart = page.getByRole('figure', { name: 'Failed sign-ins by reason' });
  const summary = chart.getByText('Failed sign-ins by reason as a table');
  await summary.focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => chart.getByRole('row').count()).toBe(7 * 24 + 1);
  await chart.getByRole('columnheader', { name: 'wrong password' }).waitFor();
  await look('a chart as a table');
  const ranking = page.getByRole('figure', { name: 'Clients with the most tokens' });
  await ranking.getByRole('link', { name: HOSTILE }).waitFor();
  expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
  await close();
});

test('on a phone nothing is cut off; a realm without counts says so', async () => {
  const { page, open, heading, look, close } = await openConsole(
    { server, browser },
    { viewport: { width: 390, height: 844 } },
  );
  await open(`/realms/${realm}`);
  await expect.poll(() => page.locator('figure canvas').count()).toBe(5);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await look('the statistics on a phone');
  await open('/realms/quiet');
  await heading('quiet');
  await page.getByRole('heading', { name: 'Nothing has happened here yet' }).waitFor();
  await page.getByText('Sign-ins, failures by reason, tokens by client').waitFor();
  expect(await page.locator('figure.chart, .measures').count()).toBe(0);
  await page.getByRole('link', { name: 'Create a user' }).waitFor();
  await look('a realm without counts');
  await page.getByRole('link', { name: 'Add an application' }).click();
  await heading('Add an application');
  await close();
});

test('a realm that was quiet in the period says so once, and keeps the totals of before', async () => {
  const { page, open, heading, look, close } = await openConsole({ server, browser });
  await server.pool.query(
    `insert into statistic (realm_id, step, kind, at, key, count)
     select 'past', step, 'sign-in', date_trunc('day', now(), 'UTC') - interval '3 days', '', 5 from (values ('hour'), ('day')) s (step)`,
  );
  await open('/realms/past');
  await heading('past');
  await page.getByRole('heading', { name: 'Nothing happened in the last 24 hours' }).waitFor();
  expect(await page.locator('figure.chart').count()).toBe(0);
  await page.getByText('Counted since').waitFor();
  await look('a quiet day');
  await page.getByRole('link', { name: '30 days', exact: true }).click();
  await page.getByRole('figure', { name: 'Sign-ins', exact: true }).waitFor();
  await close();
});

test('a reader who may change nothing gets no link to a form in a realm without counts', async () => {
  const as = await consoleAdministrator(server, 'quiet', 'watcher', ['events:read', 'realm:read']);
  const { page, open, complaints, close } = await openConsole({ server, browser }, { as });
  await open('/realms/quiet');
  await page.getByRole('heading', { name: 'Nothing has happened here yet' }).waitFor();
  await page.getByRole('link', { name: 'account page' }).waitFor();
  expect(await page.getByRole('link', { name: /Add an application|Create a user/ }).count()).toBe(0);
  expect(complaints()).toEqual([]);
  await close();
});

test('a chart becomes as narrow as its window, and the marks in a legend are small', async () => {
  const { page, open, close } = await openConsole({ server, browser });
  await open(`/realms/${realm}`);
  await expect.poll(() => page.locator('figure canvas').count()).toBe(5);
  const marks = await page.locator('.legend li > span:first-child').all();
  for (const mark of marks) expect((await mark.boundingBox())?.width).toBeLessThan(16);
  expect(marks.length).toBeGreaterThan(5);
  await page.setViewportSize({ width: 390, height: 844 });
  const widest = () =>
    page.evaluate(`Math.max(...[...document.querySelectorAll('figure canvas')].map((one) => one.clientWidth))`);
  await expect.poll(widest).toBeLessThan(390);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await close();
});

test('without events:read there are counts of things alone, and only those that may be seen', async () => {
  const as = await consoleAdministrator(server, realm, 'desk', ['users:read', 'realm:read']);
  const { page, open, heading, complaints, close } = await openConsole({ server, browser }, { as });
  await open(`/realms/${realm}`);
  await heading(realm);
  await page.getByRole('link', { name: '1 Users' }).waitFor();
  expect(await page.getByRole('link', { name: /Clients/ }).count()).toBe(0);
  expect(await page.getByRole('heading', { name: 'Activity' }).count()).toBe(0);
  expect(complaints()).toEqual([]);
  await close();
});
