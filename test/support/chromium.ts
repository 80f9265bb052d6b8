// Owns: finding, installing and launching the Chromium that the browser tests drive.
// Does not own: what the tests do in it, or the server that they open.
// Implements: "tests run after npm ci on a plain Linux"; no browser is downloaded through npm.
import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { type Browser, chromium } from 'playwright-core';

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
  const elevate = await aptPrefix();
  if (!elevate) throw new Error(`${missing} (it can't be installed from here: no apt-get, or no root and no sudo -n)`);
  log('Chromium: none found, installing the chromium package (about a minute)');
  const apt = [...elevate, 'apt-get', '-q', '-y', '-o', 'Acquire::Retries=5', '-o', 'DPkg::Lock::Timeout=300'];
  await run([...apt, 'update'], log);
  await run([...apt, 'install', '--no-install-recommends', 'chromium'], log);
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

async function aptPrefix(): Promise<string[] | undefined> {
  const can = (command: string[]) =>
    run(command).then(
      () => true,
      () => false,
    );
  if (!(await can(['apt-get', '--version']))) return undefined;
  if (process.getuid?.() === 0) return [];
  // apt's proxy settings may live in the caller's environment, which not every sudo hands on
  for (const sudo of [
    ['sudo', '-n', '--preserve-env'],
    ['sudo', '-n'],
  ])
    if (await can([...sudo, 'true'])) return sudo;
  return undefined;
}

async function run([command = '', ...args]: string[], log: (message: string) => void = () => {}): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const collect = (chunk: Buffer) => {
    output = (output + chunk).slice(-4000);
    for (const line of String(chunk).split('\n'))
      if (/^(Get:\d+ |Unpacking chromium|Setting up chromium)/.test(line)) log(line);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code}:\n${output.trim()}`);
}
