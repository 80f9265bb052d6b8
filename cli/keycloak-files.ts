// Reads a Keycloak export as one body for the server. A single file is sent unchanged, several as a list. In a folder,
// the file names give the order: the realm's file comes first, then those of its users. The server parses the contents.
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { errorWords } from '../server/contract/error-words.ts';
import { bytesOf } from './document-file.ts';
import { Refused } from './faults.ts';

/** @param realm its name in Keycloak, with which the names of a folder's files begin */
export async function filesOf(given: readonly string[], realm: string): Promise<string[]> {
  const found: string[] = [];
  for (const file of given) found.push(...(file === '-' ? [file] : await under(file, realm)));
  return found;
}

async function under(file: string, realm: string): Promise<string[]> {
  let names: string[];
  try {
    if (!(await stat(file)).isDirectory()) return [file];
    names = await readdir(file);
  } catch (error) {
    throw new Refused(`cannot read ${file}: ${errorWords(error)}`);
  }
  const own = `${realm}-realm.json`;
  if (!names.includes(own)) {
    const realms = names
      .filter((name) => name.endsWith('-realm.json'))
      .map((name) => name.slice(0, -'-realm.json'.length));
    throw new Refused(
      `there is no ${own} in ${file}`,
      realms.length > 0 ? `Say which realm: --from ${realms.join(' | ')}` : undefined,
    );
  }
  const place = (name: string): number => Number(name.slice(`${realm}-users-`.length).replace(/\.json$/, ''));
  const users = names
    .filter((name) => name.startsWith(`${realm}-users-`) && name.endsWith('.json') && Number.isInteger(place(name)))
    .sort((a, b) => place(a) - place(b));
  return [own, ...users].map((name) => path.join(file, name));
}

export async function* keycloakBytes(files: readonly string[], stdin: Readable): AsyncGenerator<Uint8Array> {
  const [only, ...more] = files;
  if (only !== undefined && more.length === 0) {
    yield* bytesOf(only, stdin);
    return;
  }
  let before = '[';
  for (const file of files) {
    yield Buffer.from(before);
    yield* bytesOf(file, stdin);
    before = ',';
  }
  yield Buffer.from(']');
}
