// Whether a request looks like a program's. It is only a hint: a program that hides what it is doesn't match.
import type { FastifyRequest } from 'fastify';

const TOOLS =
  /HeadlessChrome|PhantomJS|SlimerJS|Selenium|WebDriver|Playwright|Puppeteer|Scrapy|curl\/|Wget\/|python-|aiohttp|Go-http-client|libwww-perl|Apache-HttpClient|okhttp|axios\//i;

/** Every browser sends its name and the wanted languages. */
export function looksAutomated({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const { 'user-agent': userAgent = '', 'accept-language': languages = '' } = headers;
  return userAgent === '' || languages === '' || TOOLS.test(userAgent);
}
