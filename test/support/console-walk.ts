// Owns: a walk through a realm in the console as a reader would go: every page of the navigation, every tab, and of each list the first
// object with its tabs and its form.
// Does not own: the browser and what it complains of (console.ts), what the stops are looked at for (test/console).
// Implements: every page that somebody is led to can be looked at, without a list of pages to keep.
import type { Page } from 'playwright-core';
import type { ConsolePage } from './console.ts';

/** A page has settled when this long no request is under way. */
const QUIET_MS = 60;
const PATIENCE_MS = 30_000;

export interface Stop {
  /** As a reader would say it: `Clients › shop › Edit`. */
  name: string;
  page: Page;
}

/** Resolves when nothing is loading any more. */
function settling(page: Page): () => Promise<void> {
  let [under, last] = [0, Date.now()];
  const ended = () => {
    under -= 1;
    last = Date.now();
  };
  page.on('request', () => {
    under += 1;
  });
  page.on('requestfinished', ended);
  page.on('requestfailed', ended);
  return async () => {
    const until = Date.now() + PATIENCE_MS;
    const isBusy = async () =>
      under > 0 || Date.now() - last < QUIET_MS || (await page.locator('main .skeletons, main .stale').count()) > 0;
    while (await isBusy()) {
      if (Date.now() > until)
        throw new Error(`${page.url()} has not settled:\n${await page.locator('main').innerText()}`);
      await page.waitForTimeout(QUIET_MS / 2);
    }
  };
}

/** The addresses of links, and of rows that lead to an object. */
async function hrefsOf(page: Page, selector: string): Promise<string[]> {
  const links = await page.locator(selector).all();
  const found = await Promise.all(
    links.map(async (link) => (await link.getAttribute('href')) ?? (await link.getAttribute('data-href')) ?? ''),
  );
  return [...new Set(found)].filter((href) => href !== '').map((href) => new URL(href, page.url()).href);
}

/** Goes to an address of the console without loading it anew. */
async function follow(page: Page, address: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(address)})`);
}

/**
 * Walks through the realm.
 * @param look called at each stop
 * @returns the addresses of the pages in the navigation, below the realm's
 */
export async function walkConsole(
  { page, open }: ConsolePage,
  realm: string,
  look: (stop: Stop) => Promise<void>,
): Promise<string[]> {
  const settle = settling(page);
  await open(`/realms/${realm}`);
  await page.locator('.nav a').first().waitFor({ state: 'attached' });
  await settle();
  const pages = await hrefsOf(page, '.nav a');
  const seen = new Set<string>();
  const show = async ({ pathname, search }: URL) => {
    await follow(page, pathname + search);
    await settle();
  };
  /** Looks at a page once. @returns whether it was the first time */
  const stop = async (address: string) => {
    const url = new URL(address);
    const path = url.pathname + url.search;
    if (seen.has(path)) return false;
    seen.add(path);
    await show(url);
    await look({ name: decodeURIComponent(path).replace(/^.*?\/realms\/[^/]+/, ''), page });
    return true;
  };
  /** Stops at a page and at its tabs. @returns the links of the page itself that the selector finds */
  const withTabs = async (address: string, selector: string) => {
    const isNew = await stop(address);
    if (!isNew) await show(new URL(address));
    const links = await hrefsOf(page, selector);
    const tabs = isNew ? await hrefsOf(page, 'main .tab-list a') : [];
    for (const tab of tabs) await stop(tab);
    return links;
  };
  for (const address of pages) {
    const [row] = await withTabs(address, 'main [role=row][data-href], main [role=row] a[href]');
    if (row === undefined || !new URL(row).pathname.startsWith(`${new URL(address).pathname}/`)) continue;
    const [form] = await withTabs(row, 'main a[href$="/edit"]');
    if (form) await stop(form);
  }
  return pages.map((address) => new URL(address).pathname.split(`/realms/${realm}`)[1] ?? '');
}
