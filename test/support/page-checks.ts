// Owns: what holds of every page that people see: WCAG 2.2 AA by axe in both schemes, the keyboard alone, a phone of 320 pixels, text
// of twice its size, right to left, 30 kB.
// Does not own: in which languages a run looks at the pages (test/browser/pages*.test.ts), the way to them (page-walk.ts).
// PAGES_FOLDER=… writes pictures of them instead of checking them (page-pictures.ts).
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Browser, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser } from './chromium.ts';
import { type MailingServer, startMailingServer } from './mail.ts';
import { createPictures } from './page-pictures.ts';
import { createWalk, type Look, type stopNames, type WalkOptions } from './page-walk.ts';
import { makeWalkedRealm } from './page-walk-realm.ts';

/** Less than half as long as `axe.source`; each page parses it. */
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const PAGE_BYTES = 30_000;
const phone = { width: 320, height: 640 };
const desktop = { width: 1280, height: 900 };
/** Takes pictures instead of checking. */
export const pictures = process.env.PAGES_FOLDER ? createPictures(process.env.PAGES_FOLDER) : undefined;

const tooWide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
/** Elements whose text overflows their box, such as a word that is too long for a button. */
const cutOff = `[...document.querySelectorAll('main *')].filter((one) => {
  return one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 1 && !one.matches('input, .hidden');
}).map((one) => one.outerHTML.slice(0, 120))`;

async function fits(page: Page): Promise<void> {
  for (const size of [phone, desktop, { width: 640, height: 400 }]) {
    await page.setViewportSize(size);
    expect(await page.evaluate(tooWide), `at ${size.width} pixels`).toBe(0);
    expect(await page.evaluate(cutOff)).toEqual([]);
  }
  await page.setViewportSize(desktop);
  await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
  expect(await page.evaluate(tooWide), 'with text of twice its size').toBe(0);
  await page.evaluate(`document.documentElement.style.fontSize = ''`);
}

/** All rules in light colours; in dark ones what depends on colours. */
async function accessible(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  if (!(await page.evaluate(`'axe' in globalThis`))) await page.evaluate(axe);
  const found = await page.evaluate(`axe.run({
    runOnly: ${colorScheme === 'light' ? `['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']` : `{ type: 'rule', values: ['color-contrast'] }`},
    resultTypes: ['violations', 'incomplete'],
  }).then(({ violations, incomplete }) => ({
    violations: violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html.slice(0, 200) + failureSummary).join(' | ')),
    unsure: incomplete.filter(({ id }) => id === 'color-contrast').flatMap(({ nodes }) => nodes.map(({ html }) => html.slice(0, 200))),
  }))`);
  expect(found, `in ${colorScheme} colours`).toEqual({ violations: [], unsure: [] });
}

/** Tab reaches every clickable element in its order on the page, and each is visible then; of radio buttons the chosen one. */
async function byKeyboard(page: Page): Promise<void> {
  const focusable = `[...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')]
    .filter((one) => one.checkVisibility() && !one.disabled && one.tabIndex >= 0 && !(one.type === 'radio' && !one.checked))`;
  const wanted = await page.evaluate(`${focusable}.length`);
  await page.evaluate(`document.activeElement?.blur(); document.body.tabIndex = -1; document.body.focus()`);
  const reached: unknown[] = [];
  for (let i = 0; i < Number(wanted); i += 1) {
    await page.keyboard.press('Tab');
    reached.push(
      await page.evaluate(`(() => {
        const one = document.activeElement;
        const { outlineStyle, outlineWidth } = getComputedStyle(one);
        const { width, height } = one.getBoundingClientRect();
        const seen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
        const name = one.outerHTML.slice(0, 100);
        return seen && height >= 20 && width >= 20 ? ${focusable}.indexOf(one) : name + ' ' + width + 'x' + height + ' ' + outlineStyle;
      })()`),
    );
  }
  const skipped = reached.filter((one) => typeof one === 'string');
  expect(skipped).toEqual([]);
  expect(reached).toEqual([...reached].sort((a, b) => Number(a) - Number(b)));
  await page.evaluate(`document.body.removeAttribute('tabindex')`);
}

const sheets = new Map<string, number>();
/** With its style sheets. */
async function bytesOf(page: Page): Promise<number> {
  const text = await page.content();
  let bytes = Buffer.byteLength(text);
  for (const [, href = ''] of text.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)) {
    const at = new URL(href.replaceAll('&amp;', '&'), page.url()).href;
    const size = sheets.get(at) ?? (await (await fetch(at)).arrayBuffer()).byteLength;
    sheets.set(at, size);
    bytes += size;
  }
  return bytes;
}

/** Pages that another site could show in a frame of its own, to have people click there unknowingly. */
const framed = (response: Response, baseUrl: string): string[] => {
  const {
    'content-type': type = '',
    'x-frame-options': frames,
    'content-security-policy': policy,
  } = response.headers();
  if (!type.startsWith('text/html') || !response.url().startsWith(baseUrl)) return [];
  return frames === 'DENY' && policy?.includes("frame-ancestors 'none'") ? [] : [response.url()];
};

/** What holds of a page in each language. */
export async function isReadable(page: Page, name: string, locale: string): Promise<void> {
  expect(await page.locator('html').getAttribute('dir')).toBe(locale === 'ar' ? 'rtl' : null);
  expect(await bytesOf(page), name).toBeLessThan(PAGE_BYTES);
  await fits(page);
  if (locale !== 'de') await accessible(page, 'light');
}

/**
 * Tests of a file: the pages of these stops, by language.
 * @returns what a walk of the file's own needs, once the tests run
 */
export function checkPages(
  stopsIn: Readonly<Record<string, readonly (typeof stopNames)[number][]>>,
): () => Pick<WalkOptions, 'browser' | 'site' | 'callback'> {
  let site: MailingServer;
  let browser: Browser;
  let application: Server;
  let callback = '';
  beforeAll(async () => {
    site = await startMailingServer({ env: { USER_REGISTRATION_ENABLED: 'true' } });
    browser = await launchBrowser();
    application = createServer((_, response) => response.end('<h1>The application</h1>'));
    await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
    const address = application.address();
    callback = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/callback`;
    for (const locale of Object.keys(stopsIn))
      await makeWalkedRealm(site, { realm: `walk-${locale}`, locale, callback });
  });
  afterAll(async () => {
    await pictures?.sheets(browser);
    await browser?.close();
    application?.closeAllConnections();
    application?.close();
    await site?.stop();
  });

  describe.each(Object.entries(stopsIn))('in %s', (locale, stops) => {
    const look: Look = async (page, name) => {
      // a page that waits would come again by itself, in the middle of being looked at
      await page.evaluate('stop()');
      if (pictures) return pictures.take(page, locale, name);
      await isReadable(page, name, locale);
      if (locale === 'en') {
        await accessible(page, 'dark');
        await byKeyboard(page);
      }
    };
    test.each(stops)('the pages of %s can be read and used by everybody', async (stop) => {
      const inFrames: string[] = [];
      const answered = (response: Response) => void inFrames.push(...framed(response, site.server.baseUrl));
      await createWalk({ browser, site, realm: `walk-${locale}`, locale, callback, look, answered })[stop]();
      expect(inFrames).toEqual([]);
    });
  });
  return () => ({ browser, site, callback });
}
