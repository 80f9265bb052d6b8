// How long ago something was, in words for a page.
import { spoken } from './spoken.ts';
import { text } from './texts.ts';

const units = [
  { unit: 'day', ms: 86_400_000 },
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'minute', ms: 60_000 },
] as const;

/** A day that is to come, as people write it; of the world's clock. */
export const dayOf = (at: number): string =>
  new Intl.DateTimeFormat(spoken().tag, { dateStyle: 'long', timeZone: 'UTC' }).format(at);

/** Without a script nobody knows the clock on the wall where the person is; how long ago it was is the same everywhere. */
export function ago(at: number, now: Date): string {
  const passed = now.getTime() - at;
  const found = units.find(({ ms }) => passed >= ms);
  if (!found) return text('account.justNow');
  return new Intl.RelativeTimeFormat(spoken().tag, { numeric: 'auto' }).format(
    -Math.floor(passed / found.ms),
    found.unit,
  );
}
