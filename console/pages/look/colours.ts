// Colours of the sign-in pages, from those of a realm: text stays readable on them (WCAG 2.2 §1.4.3). The same rules as the
// server's own, so that the sketch and its remarks are true. Pure arithmetic.
type Rgb = readonly [number, number, number];

const READABLE = 4.5;
/** A lower contrast is hardly visible. */
const VISIBLE = 1.5;
/** The least contrast of white text on a page that looks dark. */
const DARK = 14;
const STEPS = 20;
const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];
export const DEFAULT_PRIMARY = '#2f5bd7';

export const isHex = (text: string): boolean => /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(text);
function parseHex(hex: string): Rgb {
  const digits = hex.length === 4 ? [...hex.slice(1)].map((digit) => digit + digit).join('') : hex.slice(1);
  const at = (place: number) => Number.parseInt(digits.slice(place, place + 2), 16);
  return [at(0), at(2), at(4)];
}
const toHex = (colour: Rgb): string =>
  `#${colour.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

function luminance(colour: Rgb): number {
  const [r = 0, g = 0, b = 0] = colour.map((part) => {
    const c = part / 255;
    return c <= 0.040_45 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function ratio(one: Rgb, other: Rgb): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
/** Both as `#rrggbb`. */
export const contrast = (one: string, other: string): number => ratio(parseHex(one), parseHex(other));

const mixed = (from: Rgb, to: Rgb, share: number): Rgb => {
  const at = (part: 0 | 1 | 2) => Math.round(from[part] + (to[part] - from[part]) * share);
  return [at(0), at(1), at(2)];
};
const textOn = (background: Rgb): Rgb => (ratio(WHITE, background) >= ratio(BLACK, background) ? WHITE : BLACK);
const steps = Array.from({ length: STEPS + 1 }, (_, step) => step / STEPS);

function readableOn(colour: Rgb, background: Rgb): Rgb {
  const towards = textOn(background);
  return (
    steps.map((share) => mixed(colour, towards, share)).find((one) => ratio(one, background) >= READABLE) ?? towards
  );
}
const visibleOn = (colour: Rgb, background: Rgb): Rgb =>
  ratio(colour, background) >= VISIBLE ? colour : readableOn(colour, background);
const darkened = (colour: Rgb): Rgb =>
  steps
    .slice(0, -1)
    .map((share) => mixed(colour, BLACK, share))
    .find((one) => ratio(WHITE, one) >= DARK) ?? BLACK;

export type Scheme = 'light' | 'dark';
const plain = {
  light: { card: '#ffffff', page: '#eef1f6', text: '#171b22', soft: '#566072', line: '#8a94a6', field: '#ffffff' },
  dark: { card: '#1b1f27', page: '#101319', text: '#eceff4', soft: '#a9b2c1', line: '#7a8598', field: '#12151b' },
} as const;

export interface Palette {
  card: string;
  page: string;
  text: string;
  soft: string;
  line: string;
  field: string;
  primary: string;
  onPrimary: string;
  link: string;
  mark: string;
}
/** The colours of a page. @param primary and background as hex; null: the product's own */
export function paletteOf(scheme: Scheme, primary: string | null, background: string | null): Palette {
  const base = plain[scheme];
  const card = parseHex(base.card);
  const own = parseHex(primary !== null && isHex(primary) ? primary : DEFAULT_PRIMARY);
  const behind = background !== null && isHex(background) ? parseHex(background) : undefined;
  return {
    ...base,
    ...(behind && { page: toHex(scheme === 'dark' ? darkened(behind) : behind) }),
    primary: toHex(own),
    onPrimary: toHex(textOn(own)),
    link: toHex(readableOn(own, card)),
    mark: toHex(visibleOn(own, card)),
  };
}
