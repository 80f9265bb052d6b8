// The keyring of a file (SVC_MASTER_KEY_FILE), such as a mounted Secret. The file is read again every few seconds, so that a
// rotation needs no restart. A file that can't be read, or holds no keyring, changes nothing.
import { readFileSync } from 'node:fs';
import type { Keyring } from '../crypto/keyring.ts';

const LOOK_MS = 5_000;

export interface KeyFile {
  keyring: Keyring;
  stop(): void;
}

/** @throws Error that names the file and its variable, never its content */
export function openKeyFile(
  file: string,
  {
    parse,
    log,
    lookMs = LOOK_MS,
  }: {
    parse(text: string): readonly Buffer[] | undefined;
    log: { info(message: string): void; warn(message: string): void };
    lookMs?: number;
  },
): KeyFile {
  const read = (): { text: string; keys: readonly Buffer[] } => {
    let text: string;
    try {
      text = readFileSync(file, 'utf8').trim();
    } catch (cause) {
      throw new Error(`SVC_MASTER_KEY_FILE: ${file} can't be read`, { cause });
    }
    const keys = parse(text);
    if (!keys)
      throw new Error(`SVC_MASTER_KEY_FILE: ${file} must hold keys of 32 bytes in base64, separated by commas`);
    return { text, keys };
  };
  let { text, keys } = read();
  let failed: string | undefined;
  const look = () => {
    try {
      const next = read();
      failed = undefined;
      if (next.text === text) return;
      ({ text, keys } = next);
      log.info(`The keyring of ${file} has changed; it holds ${keys.length === 1 ? 'one key' : `${keys.length} keys`}`);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== failed) log.warn(`${message}; the keyring before stays`);
      failed = message;
    }
  };
  const timer = setInterval(look, lookMs).unref();
  return { keyring: { current: () => keys }, stop: () => clearInterval(timer) };
}
