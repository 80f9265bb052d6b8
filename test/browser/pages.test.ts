// Owns: the pages in English and Arabic, and without JavaScript.
// Does not own: what must hold of a page (test/support/page-checks.ts), German, whose words are long (pages.long.test.ts), what pages
// say and do (test/server, the other files here).
// `npm run screenshots` takes pictures in all three.
import { expect, test } from 'vitest';
import { checkPages, pictures } from '../support/page-checks.ts';
import { createWalk, type Look } from '../support/page-walk.ts';
import { makeWalkedRealm } from '../support/page-walk-realm.ts';

const walk = checkPages(pictures ? ['en', 'de', 'ar'] : ['en', 'ar']);

test.skipIf(pictures)('without JavaScript each page is there, and leads on', async () => {
  const there = walk();
  await makeWalkedRealm(there.site, { realm: 'walk-bare', locale: 'en', callback: there.callback });
  const seen: string[] = [];
  const look: Look = async (page, name) => {
    expect(await page.locator('h1').innerText(), name).not.toBe('');
    seen.push(name);
  };
  const stops = createWalk({ ...there, realm: 'walk-bare', locale: 'en', look, javaScript: false });
  for (const stop of Object.values(stops)) await stop();
  expect(seen).toEqual(expect.arrayContaining(['otp', 'push', 'qr', 'consent', 'account', 'terms', 'reset-done']));
});
