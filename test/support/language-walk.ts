// Owns: that the pages of each language fit a narrow phone with nothing cut off, say what they say in words, and run the right way.
// Does not own: in which languages a run looks at them (test/browser/languages*.test.ts), the way to the pages (page-walk.ts).
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isTextKey, TRANSLATED_LANGUAGES } from '../../server/http/languages.ts';
import { realmCookie } from '../../server/http/realm-cookie.ts';
import { launchBrowser } from './chromium.ts';
import { type MailingServer, startMailingServer } from './mail.ts';
import { createWalk, stopNames } from './page-walk.ts';
import { makeWalkedRealm } from './page-walk-realm.ts';

const LANGUAGE_COOKIE = 'SVC_LANGUAGE';
const WIDTH = 320;
interface Seen {
  lang: string | null;
  dir: string | null;
  width: number;
  /** Elements whose text overflows their box or the page. */
  cutOff: string[];
  words: string[];
}
/** With everything open that a person can open. */
const seen = `(() => {
  for (const one of document.querySelectorAll('details')) one.open = true;
  const root = document.documentElement;
  const cutOff = [...document.querySelectorAll('body, body *')].filter((one) => {
    if (one.clientWidth <= 1 || one.matches('input, svg *, .hidden') || !one.checkVisibility()) return false;
    const { left, right } = one.getBoundingClientRect();
    return one.scrollWidth > one.clientWidth + 1 || left < -1 || right > ${WIDTH} + 1;
  });
  return {
    lang: root.lang,
    dir: root.getAttribute('dir'),
    width: document.scrollingElement.scrollWidth,
    cutOff: cutOff.map((one) => one.outerHTML.slice(0, 160)),
    words: document.body.innerText.split(/[\\s"“”„«»‘’(),:;!?]+/),
  };
})()`;

async function speaks(page: Page, name: string, locale: string): Promise<void> {
  await page.evaluate('stop()');
  await page.setViewportSize({ width: WIDTH, height: 640 });
  const { words, ...shown }: Seen = await page.evaluate(seen);
  const keys = words.filter((word) => /[.A-Z]/.test(word) && isTextKey(word.replace(/\.$/, '')));
  expect({ ...shown, keys }, `${name} in ${locale}`).toEqual({
    lang: locale,
    dir: locale === 'ar' ? 'rtl' : null,
    width: WIDTH,
    cutOff: [],
    keys: [],
  });
}

const cookie = realmCookie('http://127.0.0.1', LANGUAGE_COOKIE);
/** As by the switch of the page, which would lead away from one that answers a form. */
async function choose(page: Page, locale: string): Promise<void> {
  const { origin, pathname } = new URL(page.url());
  const realm = pathname.split('/')[2] ?? '';
  await page.context().addCookies([{ name: cookie.nameIn(realm), value: locale, url: `${origin}/realms/${realm}/` }]);
  await page.reload();
}

/** Of no realm, so that they know of no choice. */
const ofNoRealm = ['errors', 'administration'] as const;
/** Answers that come once, or to a code that is not typed again and again: pages.test.ts looks at them. */
const counted = ['device-code-wrong', 'device-confirm', 'device-allowed', 'erased'];

/** One with long words, one without spaces between words, one from right to left: each run looks at these. */
export const THREE = ['de', 'ja', 'ar'] as const;

/**
 * Tests of a file: the walk through all pages, each of them in each of these languages.
 * @param further checks of a page in a language
 */
export function walkInLanguages(
  locales: readonly string[],
  further: (page: Page, name: string, locale: string) => Promise<void> = async () => {},
): { site(): MailingServer; browser(): Browser } {
  let callback = '';
  let site: MailingServer;
  let browser: Browser;
  beforeAll(async () => {
    site = await startMailingServer({ env: { USER_REGISTRATION_ENABLED: 'true' } });
    callback = `${site.server.baseUrl}/nothing`;
    await makeWalkedRealm(site, { realm: 'walk', locale: 'en', locales: [...TRANSLATED_LANGUAGES], callback });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
  });

  const stops = stopNames.filter((stop) => !ofNoRealm.some((one) => one === stop));
  test.each(stops)('the pages of %s fit a phone of 320 pixels in each language, with nothing cut off', async (stop) => {
    const controls = 'main input, main button, main a';
    const look = async (page: Page, name: string) => {
      if (counted.includes(name)) return;
      const had = await page.locator(controls).count();
      for (const locale of [...locales, 'en']) {
        await choose(page, locale);
        await speaks(page, name, locale);
        expect(await page.locator(controls).count(), `${name} in ${locale}`).toBe(had);
        await further(page, name, locale);
      }
    };
    await createWalk({ browser, site, realm: 'walk', locale: 'en', callback, look })[stop]();
  });

  test.each(locales)('the pages of no realm fit as well for a browser that speaks %s', async (locale) => {
    const look = async (page: Page, name: string) => {
      await speaks(page, name, locale);
      await further(page, name, locale);
    };
    const walk = createWalk({ browser, site, realm: 'walk', locale, callback, look });
    for (const stop of ofNoRealm) await walk[stop]();
  });
  return { site: () => site, browser: () => browser };
}
