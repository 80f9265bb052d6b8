// Instants and lengths of time in words.
const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });

/** `3 hours ago`, `in 2 days` */
export function ago(ms: number, now = Date.now()): string {
  const seconds = (ms - now) / 1000;
  const [unit, size] = UNITS.find(([, of]) => Math.abs(seconds) >= of) ?? ['second', 1];
  return unit === 'second' && Math.abs(seconds) < 10 ? 'just now' : relative.format(Math.round(seconds / size), unit);
}

/** A moment; the exact one is its tip. @param full shows both */
export function Time({ ms, full }: { ms: number | null | undefined; full?: boolean }) {
  if (ms === null || ms === undefined) return <span className="none">never</span>;
  const said = exact.format(ms);
  return (
    <time dateTime={new Date(ms).toISOString()} title={said}>
      {full ? `${said} (${ago(ms)})` : ago(ms)}
    </time>
  );
}

const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
/** A text of the API with its instants in the reader's time. */
export const InLocalTime = ({ text }: { text: string }) =>
  text.replace(INSTANT, (instant) => exact.format(Date.parse(instant)));

export const DURATION_UNITS = [
  { name: 'seconds', one: 'second', size: 1 },
  { name: 'minutes', one: 'minute', size: 60 },
  { name: 'hours', one: 'hour', size: 3600 },
  { name: 'days', one: 'day', size: 86_400 },
] as const;

/** The largest unit in which the length is a whole number. */
export const unitOf = (seconds: number) =>
  DURATION_UNITS.findLast(({ size }) => seconds !== 0 && seconds % size === 0) ?? DURATION_UNITS[0];

/** `15 minutes` */
export function duration(seconds: number): string {
  const { one, name, size } = unitOf(seconds);
  const count = seconds / size;
  return `${count.toLocaleString('en')} ${count === 1 ? one : name}`;
}
