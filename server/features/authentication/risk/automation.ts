// Whether what shows a page looks like a program: a hint, which a program that means it doesn't give.
import type { FastifyRequest } from 'fastify';

const TOOLS =
  /HeadlessChrome|PhantomJS|SlimerJS|Selenium|WebDriver|Playwright|Puppeteer|Scrapy|curl\/|Wget\/|python-|aiohttp|Go-http-client|libwww-perl|Apache-HttpClient|okhttp|axios\//i;

/** Every browser says what it is, and which languages are wanted. */
export function looksAutomated({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const { 'user-agent': userAgent = '', 'accept-language': languages = '' } = headers;
  return userAgent === '' || languages === '' || TOOLS.test(userAgent);
}
