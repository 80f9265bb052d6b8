// Owns: finding, installing and launching the Chromium that the browser tests drive.
// Does not own: what the tests do in it, or the server that they open.
// Implements: "tests run after npm ci on a plain Linux"; no browser is downloaded through npm.
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { installPackages } from './packages.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

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

/** The browser's path; where there is none, installs Debian's `chromium` if root's rights can be had, else throws. */
export async function chromiumPath(log: (message: string) => void = () => {}): Promise<string> {
  const found = await findChromium();
  if (found) return found;
  const missing = 'no Chromium was found: install chromium or google-chrome, or set CHROME_PATH to one';
  log('Chromium: none found, installing the chromium package (about a minute)');
  await installPackages(['chromium'], { missing, log });
  const installed = await findChromium();
  if (!installed) throw new Error(missing);
  log(`Chromium: ${installed}`);
  return installed;
}

/** A headless browser on `chromiumPath()`; the caller closes it. */
export async function launchBrowser(): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: await chromiumPath(), args: flags });
  return browser.on('context', (context) => context.setDefaultTimeout(PATIENCE_MS));
}

async function executable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
