// How long ago something was, in words for a page.
import { text } from './texts.ts';

const units = [
  { unit: 'day', ms: 86_400_000 },
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'minute', ms: 60_000 },
] as const;
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** Without a script nobody knows the clock on the wall where the person is; how long ago it was is the same everywhere. */
export function ago(at: number, now: Date): string {
  const passed = now.getTime() - at;
  const found = units.find(({ ms }) => passed >= ms);
  return found ? relative.format(-Math.floor(passed / found.ms), found.unit) : text('account.justNow');
}
