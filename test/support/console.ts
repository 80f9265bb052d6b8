// Owns: a browser on the console of a test server: signing in, what the browser complains of, axe.
// Does not own: what the tests do there, the server (server.ts), the browser itself (chromium.ts).
// Implements: no page of the console makes the browser's console speak, breaks the page's policy, or has a fault that axe finds.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { ADMIN_PASSWORD, type TestServer } from './server.ts';

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
/** A refusal that the test asks for; the console shows it in words. */
const REFUSED = /Failed to load resource: the server responded with a status of 4\d\d/;

export interface ConsolePage {
  page: Page;
  /** Opens an address below the console's. */
  open(path: string): Promise<void>;
  /** Goes to an address below the console's as its own links do: nothing is loaded anew. */
  go(path: string): Promise<void>;
  /** Waits until the heading is there. */
  heading(name: string): Promise<void>;
  /** The complaints of the browser since the last call. */
  complaints(): string[];
  /**
   * axe in light and dark colours, and nothing that the browser complains of.
   * @param within a selector: axe looks at this part of the page alone @param dark false: in light colours alone
   */
  look(name: string, options?: { within?: string; dark?: boolean }): Promise<void>;
  close(): Promise<void>;
}

export interface Credentials {
  username: string;
  password: string;
  realm?: string;
}
const BUILD_POLL_MS = 300;
/** The server's address once its console is built: before, it answers a page that says so. */
let built: string | undefined;
export async function consoleIsBuilt(baseUrl: string): Promise<void> {
  if (built === baseUrl) return;
  while ((await fetch(`${baseUrl}/admin/console/`)).status === 503) await sleep(BUILD_POLL_MS);
  built = baseUrl;
}
/**
 * A page that still changes is looked at again until then, such as one of whose buttons a toast hides a part for six seconds. A fault
 * that stays is found all the same.
 */
const SETTLED_MS = 15_000;
/** Tells what hangs from what is slow. */
const PATIENCE_MS = 45_000;
const ADMIN: Credentials = { username: 'admin', password: ADMIN_PASSWORD };

/** A window of its own, signed in unless `as` is null. */
export async function openConsole(
  { server, browser }: { server: Pick<TestServer, 'baseUrl'>; browser: Browser },
  { as = ADMIN, ...options }: BrowserContextOptions & { as?: Credentials | null } = {},
): Promise<ConsolePage> {
  await consoleIsBuilt(server.baseUrl);
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  });
  if (as) {
    const answer = await context.request.post(`${server.baseUrl}/admin/login`, { data: as });
    expect(answer.status()).toBe(204);
  }
  const page = await context.newPage();
  let said: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !REFUSED.test(message.text())) said.push(message.text());
  });
  page.on('pageerror', ({ message }) => said.push(message));
  const complaints = () => {
    const now = said;
    said = [];
    return now;
  };
  const found = async (rules: string, within = 'html') => {
    if (!(await page.evaluate(`'axe' in globalThis`))) await page.evaluate(axe);
    return page.evaluate(`axe.run(${JSON.stringify(within)}, { runOnly: ${rules}, resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html.slice(0, 200) + failureSummary).join(' | ')).join('\\n'))`);
  };
  const hasNoFault = (rules: string, within: string | undefined, message: string) =>
    expect.poll(() => found(rules, within), { message, timeout: SETTLED_MS }).toBe('');
  return {
    page,
    complaints,
    async open(path) {
      await page.goto(`${server.baseUrl}/admin/console${path}`);
    },
    async go(path) {
      await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/admin/console${path}`)})`);
    },
    async heading(name) {
      const there = page.getByRole('heading', { level: 1, name, exact: true });
      await there.waitFor({ timeout: PATIENCE_MS }).catch(async (cause: unknown) => {
        const main = await page.locator('main').innerText();
        throw new Error(`${page.url()} has no heading ${name}:\n${main}\n${complaints().join('\n')}`, { cause });
      });
    },
    async look(name, { within, dark = true } = {}) {
      // rows that wait for the answer to a filter are paler than their colours
      await page.locator('.stale').waitFor({ state: 'detached', timeout: PATIENCE_MS });
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
      const rules = `['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']`;
      await hasNoFault(rules, within, `${name}, in light colours`);
      if (dark) {
        await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
        const contrast = `{ type: 'rule', values: ['color-contrast'] }`;
        await hasNoFault(contrast, within, `${name}, in dark colours`);
        await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
      }
      expect(complaints(), name).toEqual([]);
    },
    close: () => context.close(),
  };
}
