// Owns: how a person acts in the console: with a mouse, or by the keyboard alone; in a wide, narrow, dark, enlarged or mirrored window;
// and what is looked at where the person stops.
// Does not own: what a person wants there (test/console/journeys.*.test.ts), the browser and axe (console.ts).
// Implements: decisions "Console": journeys by mouse, by keyboard alone, at 390, 768 and 1440 px, dark, at 200 %, from right to left.
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { type ConsolePage, type Credentials, openConsole } from './console.ts';
import { eventually } from './operator.ts';
import type { TestServer } from './server.ts';

const DIRECTION = `localStorage.setItem('realmkeeper.direction', 'rtl')`;
/** Each mode of use: its window, and whether it is the keyboard's. */
const modes = {
  mouse: { viewport: { width: 1440, height: 900 } },
  keyboard: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 390, height: 844 } },
  tablet: { viewport: { width: 768, height: 1024 } },
  dark: { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  // a window of 1440 px at a zoom of 200 %
  zoom: { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 },
  arabic: { viewport: { width: 390, height: 844 }, locale: 'ar-EG' },
} satisfies Record<string, BrowserContextOptions>;
export type Mode = keyof typeof modes;
/** Those that a journey has besides the keyboard: the next one for each journey. */
export const OTHER_MODES = ['phone', 'zoom', 'arabic', 'tablet', 'dark'] as const satisfies Mode[];

/** The key that brings the focus nearer to an element; `here`: the element has the focus. */
const NEXT_KEY = `(target) => {
  const goal = target.closest('label')?.control ?? target;
  let focus = document.activeElement;
  while (focus?.shadowRoot?.activeElement) focus = focus.shadowRoot.activeElement;
  const active = document.getElementById(focus?.getAttribute('aria-activedescendant') ?? '') ?? focus;
  const isEditor = goal.isContentEditable && goal.contains(active);
  if (active === goal || isEditor) return 'here';
  const outer = (one) => one.getRootNode().host ?? one;
  const follows = (one, other) => (outer(one).compareDocumentPosition(outer(other)) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
  const rtl = document.documentElement.dir === 'rtl';
  const box = goal.parentElement?.closest('[role=grid], [role=treegrid], [role=menu], [role=listbox], [role=radiogroup], [role=tablist]');
  if (box) {
    const controls = focus.getAttribute('aria-controls')?.split(' ') ?? [];
    if (controls.some((id) => id !== '' && (id === box.id || document.getElementById(id)?.contains(box)))) return 'ArrowDown';
    if (box.contains(active) && active !== box) {
      if (box.role === 'tablist') return follows(active, goal) === rtl ? 'ArrowLeft' : 'ArrowRight';
      const [from, to] = [active.closest('[role=row]'), goal.closest('[role=row]')];
      if (from && from === to) return goal === to ? (rtl ? 'ArrowRight' : 'ArrowLeft') : rtl ? 'ArrowLeft' : 'ArrowRight';
      return follows(active, goal) ? 'ArrowDown' : 'ArrowUp';
    }
  }
  if (focus === null || focus === document.body) return 'Tab';
  return follows(focus, box ?? goal) ? 'Tab' : 'Shift+Tab';
}`;
const MOST_PRESSES = 120;
/** A chooser that a busy browser has not opened by then is asked for again, as a person would. */
const CHOOSER_MS = 10_000;

/** Whether the element with the focus is hidden behind another, as WCAG 2.2 §2.4.11 forbids; its words if so. */
const OBSCURED = `(() => {
  const focus = document.activeElement;
  const { left, top, right, bottom, width, height } = focus.getBoundingClientRect();
  if (width < 3 || height < 3) return null;
  const at = (x, y) => document.elementFromPoint(x, y);
  const points = [0.1, 0.5, 0.9].flatMap((x) => [0.1, 0.5, 0.9].map((y) => at(left + width * x, top + height * y)));
  const seen = points.some((one) => one && (focus.contains(one) || one.contains(focus) || one.closest('label')?.control === focus));
  return seen ? null : focus.outerHTML.slice(0, 160) + ' at ' + [left, top, right, bottom].map(Math.round);
})()`;

/** Texts that are cut without a sign of it. */
const CUT = `[...document.querySelectorAll('main :is(h1, h2, h3, p, button, a, label, dt, dd, th), [role=dialog] :is(h2, p, button, label), [role=alertdialog] :is(h2, p, button, label)')]
  .filter((one) => one.checkVisibility() && one.clientWidth > 1 && one.scrollWidth > one.clientWidth + 1)
  .filter((one) => { const { overflowX, textOverflow } = getComputedStyle(one); return ['hidden', 'clip'].includes(overflowX) && textOverflow !== 'ellipsis'; })
  .map((one) => one.outerHTML.slice(0, 160))`;

export interface Hand {
  page: Page;
  mode: Mode;
  open(path: string): Promise<void>;
  heading(name: string): Promise<void>;
  /** Presses a button, a link, a row, an entry of a menu. */
  press(target: Locator): Promise<void>;
  /** Ticks a box, or chooses one of several. */
  tick(target: Locator): Promise<void>;
  fill(field: Locator, text: string): Promise<void>;
  /** Types into a field that searches, and takes what it finds. */
  find(field: Locator, text: string, option: RegExp | string): Promise<void>;
  /** Opens a list of choices and takes one. */
  choose(button: Locator, option: RegExp | string): Promise<void>;
  upload(field: Locator, name: string, text: string): Promise<void>;
  /** Takes an entry of the navigation, which a narrow window has in a drawer. */
  follow(link: string): Promise<void>;
  /** Looks at the page: axe, nothing cut, nothing wider than the window, and by keyboard the focus somewhere. */
  stop(name: string): Promise<void>;
  close(): Promise<void>;
}

/** A window in which a person is signed in, unless `as` is null. */
export async function openHand(
  on: { server: TestServer; browser: Browser },
  mode: Mode,
  { as }: { as?: Credentials | null } = {},
): Promise<Hand> {
  const opened: ConsolePage = await openConsole(on, { ...modes[mode], ...(as !== undefined && { as }) });
  const { page } = opened;
  if (mode === 'arabic') await page.addInitScript(DIRECTION);
  return mode === 'keyboard' ? keyboard(opened) : pointer(opened, mode);
}

function shared({ page, open, heading, look, close }: ConsolePage, mode: Mode, isLost: () => Promise<boolean>) {
  return {
    page,
    mode,
    open,
    heading,
    close,
    async stop(name: string) {
      if (mode === 'keyboard')
        await expect.poll(isLost, { message: `${name}: the focus is lost`, timeout: 5000 }).toBe(false);
      const { width, cut } = (await page.evaluate(
        `({ width: document.documentElement.scrollWidth - innerWidth, cut: ${CUT} })`,
      )) as { width: number; cut: string[] };
      expect(width, `${name} is wider than its window`).toBeLessThanOrEqual(0);
      expect(cut, `${name} has cut texts`).toEqual([]);
      // what the bar at the top covers is no small target
      await page.evaluate('scrollTo(0, 0)');
      await look(name, { dark: mode === 'dark' });
    },
  };
}

/** The entries of the navigation are in a drawer where the window is narrow. */
async function follow(hand: Pick<Hand, 'page' | 'press'>, link: string) {
  const { page } = hand;
  await page.locator('main h1').waitFor();
  const drawer = page.getByRole('button', { name: 'Navigation', exact: true });
  if (await drawer.isVisible()) await hand.press(drawer);
  await hand.press(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: link, exact: true }));
}

function pointer(opened: ConsolePage, mode: Mode): Hand {
  const { page } = opened;
  const press = (target: Locator) => target.click();
  const option = (name: RegExp | string) => page.getByRole('option', { name, exact: true }).first();
  return {
    ...shared(opened, mode, async () => false),
    press,
    // the box itself is drawn by its label
    tick: (target) => target.locator('xpath=ancestor::label').click(),
    fill: (field, text) => field.fill(text),
    async find(field, text, name) {
      await field.fill(text);
      await option(name).click();
    },
    async choose(button, name) {
      await button.click();
      await option(name).click();
    },
    upload: (field, name, text) => field.setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) }),
    follow: (link) => follow({ page, press }, link),
  };
}

function keyboard(opened: ConsolePage): Hand {
  const { page } = opened;
  const obscured: string[] = [];
  /** Presses keys until the element has the focus. */
  async function reach(target: Locator): Promise<void> {
    const one = target.first();
    await one.waitFor({ state: 'attached' });
    const pressed: string[] = [];
    for (;;) {
      await one.evaluate((goal) => void Object.assign(globalThis, { goal }));
      const key = String(await page.evaluate(`(${NEXT_KEY})(globalThis.goal)`));
      if (key === 'here') break;
      if (pressed.length > MOST_PRESSES)
        throw new Error(`the keyboard does not come to ${target}: ${pressed.slice(-12)} ended at ${await focused()}`);
      pressed.push(key);
      await page.keyboard.press(key);
    }
    const hidden = await page.evaluate(OBSCURED);
    if (typeof hidden === 'string') obscured.push(hidden);
  }
  const focused = () => page.evaluate(`document.activeElement?.outerHTML.slice(0, 200)`);
  const press = async (target: Locator) => {
    await reach(target);
    await page.keyboard.press('Enter');
  };
  const type = async (field: Locator, text: string) => {
    await reach(field);
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText(text);
  };
  const option = (name: RegExp | string) => page.getByRole('option', { name, exact: true }).first();
  const base = shared(
    opened,
    'keyboard',
    async () =>
      (await page.evaluate('document.activeElement')) === null ||
      (await page.evaluate('document.activeElement === document.body')) === true,
  );
  return {
    ...base,
    async stop(name) {
      await base.stop(name);
      expect(obscured, `${name}: the focus is behind something`).toEqual([]);
    },
    press,
    async tick(target) {
      await reach(target);
      await page.keyboard.press('Space');
    },
    fill: type,
    async find(field, text, name) {
      await type(field, text);
      await press(option(name));
    },
    async choose(button, name) {
      await press(button);
      await press(option(name));
    },
    async upload(field, name, text) {
      const chooser = await eventually(async () => {
        await reach(field);
        const [opened] = await Promise.all([
          page.waitForEvent('filechooser', { timeout: CHOOSER_MS }),
          page.keyboard.press('Space'),
        ]);
        return opened;
      });
      await chooser.setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    },
    follow: (link) => follow({ page, press }, link),
  };
}
