// What a browser is called before people, by what it says of itself.
import Bowser from 'bowser';
import { text } from './texts.ts';

const MOST = 512;
/** Nobody writes words of their own into a mail or a page by a header. */
const known = new Set([...Object.values(Bowser.BROWSER_MAP), ...Object.values(Bowser.OS_MAP)]);

export function deviceName(userAgent: string | null | undefined): string {
  if (!userAgent) return text('account.deviceUnknown');
  const parsed = Bowser.parse(userAgent.slice(0, MOST));
  const browser = known.has(parsed.browser.name ?? '') ? parsed.browser.name : undefined;
  const system = known.has(parsed.os.name ?? '') ? parsed.os.name : undefined;
  if (browser && system) return text('account.device', { browser, system });
  return browser || system || text('account.deviceUnknown');
}
