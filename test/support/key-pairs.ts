// Owns: RSA key pairs made before the tests, for the realms of test servers: each takes a processor a fifth of a second.
// Does not own: making them (server/features/configuration/keys/generate.ts), which the tests of keys do for themselves.
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { expect, inject } from 'vitest';
import { z } from 'zod';
import { type GenerateKeyPair, generatePair } from '../../server/features/configuration/keys/generate.ts';
import { testFolder } from './cluster.ts';

/** Both halves of each pair, in base64. */
export type PreparedKeyPairs = z.infer<typeof Prepared>;

declare module 'vitest' {
  export interface ProvidedContext {
    keyPairs: PreparedKeyPairs;
  }
}

const Prepared = z.array(z.tuple([z.string(), z.string()]));
const COUNT = 32;

/** Kept between runs, in a folder of this user. */
export async function prepareKeyPairs(): Promise<PreparedKeyPairs> {
  const file = path.join(await testFolder(), `key-pairs-${COUNT}.json`);
  try {
    return Prepared.parse(JSON.parse(await fs.readFile(file, 'utf8')));
  } catch {
    // not there, or not whole
  }
  const made = await Promise.all(Array.from({ length: COUNT }, () => generatePair('RS256')));
  const pairs = made.map(({ publicKey, privateKey }): [string, string] => [
    publicKey.toString('base64'),
    privateKey.toString('base64'),
  ]);
  // written whole or not at all, even if another process writes one at this moment
  const draft = `${file}.${randomUUID()}`;
  await fs.writeFile(draft, JSON.stringify(pairs), { mode: 0o600 });
  await fs.rename(draft, file);
  return pairs;
}

let file: string | undefined;
let handedOut = 0;

/** Gives none twice within a test file, so that no realm can verify what another has signed. */
export const preparedKeyPair: GenerateKeyPair = async (algorithm) => {
  if (!['RS256', 'PS256'].includes(algorithm)) return generatePair(algorithm);
  const { testPath } = expect.getState();
  if (testPath !== file) handedOut = 0;
  file = testPath;
  const pair = inject('keyPairs')[handedOut];
  handedOut += 1;
  if (!pair) return generatePair(algorithm);
  const [publicKey, privateKey] = pair;
  return { publicKey: Buffer.from(publicKey, 'base64'), privateKey: Buffer.from(privateKey, 'base64') };
};
