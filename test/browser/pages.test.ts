// Owns: the pages in English, in Arabic those that are shown once, and without JavaScript.
// Does not own: what must hold of a page (test/support/page-checks.ts), other pages in Arabic (languages.test.ts),
// German, whose words are long (pages.long.test.ts), what pages say and do (test/server, the other files here).
// `npm run screenshots` takes pictures in all three.
import { expect, test } from 'vitest';
import { checkPages, pictures } from '../support/page-checks.ts';
import { createWalk, type Look, stopNames } from '../support/page-walk.ts';
import { makeWalkedRealm } from '../support/page-walk-realm.ts';

const walk = checkPages(
  pictures ? { en: stopNames, de: stopNames, ar: stopNames } : { en: stopNames, ar: ['device', 'changes'] },
);

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
