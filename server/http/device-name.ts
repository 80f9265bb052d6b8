// What a browser is called before people, by what it says of itself.
import Bowser from 'bowser';
import { text } from './texts.ts';

export function deviceName(userAgent: string | null | undefined): string {
  if (!userAgent) return text('account.deviceUnknown');
  const { browser, os } = Bowser.parse(userAgent);
  if (browser.name && os.name) return text('account.device', { browser: browser.name, system: os.name });
  return browser.name || os.name || text('account.deviceUnknown');
}
