// Owns: installing Debian packages that tests need, where root's rights can be had.
// Does not own: which (chromium.ts, saml-tools.ts, slapd.ts).
import { spawn } from 'node:child_process';

/** The packages can't be installed on this machine. */
export class NotInstallable extends Error {}

/** @param missing what to say where they can't be installed from here */
export async function installPackages(
  names: readonly string[],
  { missing, log }: { missing: string; log: (message: string) => void },
): Promise<void> {
  const elevate = await aptPrefix();
  if (!elevate) throw new NotInstallable(`${missing} (not from here: there is no apt-get, or no root and no sudo -n)`);
  const apt = [...elevate, 'apt-get', '-q', '-y', '-o', 'Acquire::Retries=5', '-o', 'DPkg::Lock::Timeout=300'];
  await run([...apt, 'update'], log);
  await run([...apt, 'install', '--no-install-recommends', ...names], log);
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
    for (const line of String(chunk).split('\n')) if (/^(Get:\d+ |Unpacking |Setting up )/.test(line)) log(line);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code}:\n${output.trim()}`);
}
