// Dates and spans of time in the language of the page.
import { currentLanguage } from './spoken.ts';
import { text } from './texts.ts';

const units = [
  { unit: 'day', ms: 86_400_000 },
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'minute', ms: 60_000 },
] as const;

/** A day by UTC: `November 26, 2026`. */
export const dayOf = (at: number): string =>
  new Intl.DateTimeFormat(currentLanguage().tag, { dateStyle: 'long', timeZone: 'UTC' }).format(at);

/** A page without a script does not know the user's time zone; a span of time is the same in each. */
export function timeAgo(at: number, now: Date): string {
  const passed = now.getTime() - at;
  const found = units.find(({ ms }) => passed >= ms);
  if (!found) return text('account.justNow');
  return new Intl.RelativeTimeFormat(currentLanguage().tag, { numeric: 'auto' }).format(
    -Math.floor(passed / found.ms),
    found.unit,
  );
}
