// Owns: that the pages fit a narrow phone in three languages, what else must hold of them in Arabic, and that a language is chosen
// there by the keyboard alone.
// Does not own: what must hold of a page in a language (test/support/language-walk.ts), the other languages (languages.long.test.ts), how
// a language is chosen (test/server/features/languages.test.ts), what else holds of a page (pages.test.ts).
import { expect, test } from 'vitest';
import { putSettings } from '../../server/contract/settings.ts';
import { TRANSLATED_LANGUAGES } from '../../server/http/languages.ts';
import { makePeopledRealm } from '../support/applications.ts';
import { THREE, walkInLanguages } from '../support/language-walk.ts';
import { isReadable } from '../support/page-checks.ts';

const walk = walkInLanguages(THREE, async (page, name, locale) => {
  if (locale === 'ar') await isReadable(page, name, locale);
});

test('a language is chosen with the keyboard alone, and its page runs from right to left', async () => {
  const { server } = walk.site();
  await makePeopledRealm(server, 'acme');
  await server.admin.call(putSettings, {
    params: { realm: 'acme' },
    body: { supportedLocales: [...TRANSLATED_LANGUAGES] },
  });
  const context = await walk.browser().newContext({ locale: 'en' });
  const page = await context.newPage();
  await page.goto(`${server.baseUrl}/realms/acme/login?for=account`);
  await page.locator('details.language summary').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'العربية' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'تسجيل الدخول' }).waitFor();
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl');
  await context.close();
});
