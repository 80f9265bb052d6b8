// Owns: finding, installing and launching the Chromium that the browser tests drive.
// Does not own: what the tests do in it, or the server that they open.
// Implements: "tests run after npm ci on a plain Linux"; no browser is downloaded through npm.
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { errorWords } from '../../server/contract/error-words.ts';
import { installPackages, NotInstallable } from './packages.ts';

/** The same engine without windows, extensions and accounts: it takes a third less of the processors. */
const SHELL = 'chromium-headless-shell';
const names = [SHELL, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** As the tests' limits (vitest.config.ts) it tells what hangs, not what is slow. */
const PATIENCE_MS = 100_000;

/** An existing browser: `CHROME_PATH`, else the first known name on `PATH`, else macOS' own place. */
export async function findChromium(env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  if (env.CHROME_PATH) {
    if (await executable(env.CHROME_PATH)) return env.CHROME_PATH;
    throw new Error(`CHROME_PATH is ${env.CHROME_PATH}, which is not an executable file: correct or unset it`);
  }
  const folders = (env.PATH ?? '').split(path.delimiter).filter(Boolean);
  const candidates = names.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  candidates.push('/Applications/Google Chrome.app/Contents/MacOS/Google Chrome');
  for (const candidate of candidates) if (await executable(candidate)) return candidate;
  return undefined;
}

/**
 * The browser's path. Where there is none, installs Debian's headless shell, or else its `chromium`, if root's rights can be had, and
 * throws if not; with CI=true it installs the shell beside another browser, too.
 */
export async function chromiumPath(
  log: (message: string) => void = () => {},
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const ci = ['true', '1'].includes(env.CI ?? '');
  const found = await findChromium(env);
  if (found && (env.CHROME_PATH || path.basename(found) === SHELL || !ci)) return found;
  const missing = 'no Chromium was found: install chromium-headless-shell or google-chrome, or set CHROME_PATH to one';
  log(`Chromium: ${found ?? 'none found'}, installing the package ${SHELL} (about a minute)`);
  await installPackages([SHELL], { missing, log }).catch(async (error: unknown) => {
    if (found) return log(`Chromium: ${errorWords(error)}`);
    // other descendants of Debian have no package of it
    if (error instanceof NotInstallable) throw error;
    await installPackages(['chromium'], { missing, log });
  });
  const installed = await findChromium(env);
  if (!installed) throw new Error(missing);
  log(`Chromium: ${installed}`);
  return installed;
}

/**
 * A headless browser; the caller closes it. `chromiumPath` has installed one before the tests.
 * @param scrollbars they take space, as on most desktops; otherwise there are none
 */
export async function launchBrowser({ scrollbars = false } = {}): Promise<Browser> {
  const executablePath = (await findChromium()) ?? (await chromiumPath());
  const browser = await chromium.launch({
    executablePath,
    args: flags,
    ...(scrollbars && { ignoreDefaultArgs: ['--hide-scrollbars'] }),
  });
  return browser.on('context', (context) => context.setDefaultTimeout(PATIENCE_MS));
}

async function executable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
