// Owns: pictures of each page that the walk sees: phone and desktop, light and dark, and sheets on which pages stand side by side in all
// languages.
// Does not own: the way to the pages (page-walk.ts), what must hold of them (page-checks.ts).
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';

const schemes = ['light', 'dark'] as const;
/** `shown` is how wide a picture is on a sheet, `around` what is left about the card. */
const screens = {
  phone: { viewport: { width: 390, height: 844 }, shown: 260, around: undefined },
  desktop: { viewport: { width: 1280, height: 900 }, shown: 330, around: 24 },
} as const;
type Screen = keyof typeof screens;
const screenNames: readonly Screen[] = ['phone', 'desktop'];
const GAP = 12;
const SHEET_HEIGHT = 1560;

interface Picture {
  file: string;
  name: string;
  locale: string;
  screen: Screen;
  scheme: (typeof schemes)[number];
  width: number;
  height: number;
}

/** @param folder where they are written */
export function createPictures(folder: string) {
  const taken: Picture[] = [];
  /** Of the card alone, with its surroundings; of a phone the whole page. */
  async function clipOf(page: Page, around: number | undefined) {
    if (around === undefined) return undefined;
    const box = Object(
      await page.evaluate(`(() => {
        scrollTo(0, 0);
        const { x, y, width, height } = document.querySelector('main.card').getBoundingClientRect();
        return { x, y, width, height, scrollHeight: document.documentElement.scrollHeight };
      })()`),
    );
    const top = Math.max(box.y - around, 0);
    const bottom = Math.min(box.y + box.height + around, box.scrollHeight);
    return { x: box.x - around, y: top, width: box.width + 2 * around, height: bottom - top };
  }

  return {
    async take(page: Page, locale: string, name: string): Promise<void> {
      await mkdir(folder, { recursive: true });
      await page.evaluate(`for (const one of document.querySelectorAll('details:not(.language)')) one.open = true`);
      for (const screen of screenNames) {
        const { viewport, around } = screens[screen];
        await page.setViewportSize(viewport);
        for (const scheme of schemes) {
          await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
          const clip = await clipOf(page, around);
          const file = `${name}.${locale}.${screen}.${scheme}.png`;
          const picture = await page.screenshot({
            path: path.join(folder, file),
            fullPage: true,
            ...(clip && { clip }),
          });
          const [width, height] = [picture.readUInt32BE(16), picture.readUInt32BE(20)];
          taken.push({ file, name, locale, screen, scheme, width, height });
        }
      }
    },

    /** `phone-1.png`, … and `desktop-1.png`, …: a line for each page, with the languages in light and then in dark colours. */
    async sheets(browser: Browser): Promise<void> {
      for (const screen of screenNames) {
        const { shown } = screens[screen];
        const names = [...new Set(taken.map(({ name }) => name))].sort();
        const lines = names.map((name) => {
          const all = taken.filter((one) => one.name === name && one.screen === screen);
          const scaled = all
            .toSorted((a, b) => schemes.indexOf(a.scheme) - schemes.indexOf(b.scheme))
            .map((one) => ({ ...one, shownHeight: Math.round((one.height * shown) / one.width) }));
          return { name, scaled, height: Math.max(0, ...scaled.map(({ shownHeight }) => shownHeight)) + 24 + GAP };
        });
        const sheets: (typeof lines)[] = [];
        let room = 0;
        for (const line of lines) {
          if (line.height > room || sheets.length === 0) {
            sheets.push([]);
            room = SHEET_HEIGHT;
          }
          sheets.at(-1)?.push(line);
          room -= line.height;
        }
        const context = await browser.newContext({ viewport: { width: 6 * (shown + GAP) + GAP, height: 600 } });
        const page = await context.newPage();
        for (const [i, sheet] of sheets.entries()) {
          const html = sheet
            .map(({ name, scaled }) => {
              const pictures = scaled.map(({ file }) => `<img src="${file}" style="width:${shown}px">`);
              return `<h2>${name}</h2><div>${pictures.join('')}</div>`;
            })
            .join('\n');
          const file = path.join(folder, `sheet-${screen}-${i + 1}.html`);
          const style = `body{margin:0 ${GAP}px;background:#777;font:600 14px/24px sans-serif}h2{margin:0;font:inherit}div{display:flex;gap:${GAP}px;align-items:flex-start}`;
          await writeFile(file, `<!doctype html><meta charset="utf-8"><style>${style}</style>\n${html}`);
          await page.goto(pathToFileURL(file).href);
          await page.screenshot({ path: file.replace(/html$/, 'png'), fullPage: true });
        }
        await context.close();
      }
    },
  };
}
