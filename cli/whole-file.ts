// Writes files completely or not at all: to a temporary file, which then replaces the file.
import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { Refused } from './faults.ts';

export type Chunks = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/** @param secret only the owner may read the file */
export async function writeWhole(file: string, chunks: Chunks, { secret = false } = {}): Promise<void> {
  const draft = path.join(path.dirname(file), `.${path.basename(file)}.${randomBytes(6).toString('hex')}.part`);
  const handle = await open(draft, 'wx', secret ? 0o600 : 0o666).catch((error: Error) => {
    throw new Refused(`cannot write ${file}: ${error.message}`);
  });
  try {
    try {
      // not write(), which may write less than it is given
      for await (const chunk of chunks) await handle.writeFile(chunk);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
