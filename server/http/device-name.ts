// A browser's name for users, from its User-Agent header.
import Bowser from 'bowser';
import { text } from './texts.ts';

const MOST = 512;
/** Only known names are shown, so that a client's header can't put its own words into a mail or a page. */
const known = new Set([...Object.values(Bowser.BROWSER_MAP), ...Object.values(Bowser.OS_MAP)]);

export function deviceName(userAgent: string | null | undefined): string {
  if (!userAgent) return text('account.deviceUnknown');
  const parsed = Bowser.parse(userAgent.slice(0, MOST));
  const browser = known.has(parsed.browser.name ?? '') ? parsed.browser.name : undefined;
  const system = known.has(parsed.os.name ?? '') ? parsed.os.name : undefined;
  if (browser && system) return text('account.device', { browser, system });
  return browser || system || text('account.deviceUnknown');
}
