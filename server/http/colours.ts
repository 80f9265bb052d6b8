// Keeps text readable with any colours of a realm (WCAG 2.2 §1.4.3: a contrast of 4.5 to 1). Pure arithmetic.
export type Rgb = readonly [number, number, number];

const READABLE = 4.5;
/** A lower contrast is hardly visible. */
const VISIBLE = 1.5;
const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];

/** `#abc` and `#aabbcc`; anything else is black. */
export function parseHex(hex: string): Rgb {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(hex);
  const [, r = '0', g = '0', b = '0'] = short
    ? [hex, ...short.slice(1).map((c) => c + c)]
    : (/^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(hex) ?? []);
  return [Number.parseInt(r, 16), Number.parseInt(g, 16), Number.parseInt(b, 16)];
}

export const toHex = (colour: Rgb): string =>
  `#${colour.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

function luminance(colour: Rgb): number {
  const [r, g, b] = colour.map((part) => {
    const c = part / 255;
    return c <= 0.040_45 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (r ?? 0) + 0.7152 * (g ?? 0) + 0.0722 * (b ?? 0);
}

export function contrast(a: Rgb, b: Rgb): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
}

/** Black or white, whichever has more contrast on `background`; always at least 4.58 to 1. */
export const textOn = (background: Rgb): Rgb =>
  contrast(WHITE, background) >= contrast(BLACK, background) ? WHITE : BLACK;

/** `colour` if it differs enough from `background`, else a readable one: for a white button on a white card. */
export const visibleOn = (colour: Rgb, background: Rgb): Rgb =>
  contrast(colour, background) >= VISIBLE ? colour : readableOn(colour, background);

/** `colour`, moved towards black or white only as far as needed to be readable on `background`. */
export function readableOn(colour: Rgb, background: Rgb): Rgb {
  const towards = textOn(background);
  for (let step = 0; step <= 20; step += 1) {
    const mixed = mix(colour, towards, step / 20);
    if (contrast(mixed, background) >= READABLE) return mixed;
  }
  return towards;
}

/** The least contrast of white text on a page that looks dark. */
const DARK = 14;

/** `colour`, moved towards black only as far as the dark page needs. */
export function darkenedColour(colour: Rgb): Rgb {
  for (let step = 0; step < 20; step += 1) {
    const mixed = mix(colour, BLACK, step / 20);
    if (contrast(WHITE, mixed) >= DARK) return mixed;
  }
  return BLACK;
}

function mix(from: Rgb, to: Rgb, share: number): Rgb {
  const at = (i: 0 | 1 | 2) => Math.round(from[i] + (to[i] - from[i]) * share);
  return [at(0), at(1), at(2)];
}
