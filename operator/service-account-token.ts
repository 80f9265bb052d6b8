// Reads the claims of a ServiceAccount token. It verifies nothing: the kubelet wrote this operator's token to the file.
import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const Claims = z.object({
  iss: z.string(),
  sub: z.string(),
  aud: z.union([z.string(), z.array(z.string())]),
  exp: z.number(),
});
export type Claims = z.output<typeof Claims>;

/** undefined: the text is no ServiceAccount token. */
export function claimsOf(token: string): Claims | undefined {
  try {
    return Claims.parse(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()));
  } catch {
    return undefined;
  }
}

export async function issuerOfTokenIn(file: string): Promise<string | undefined> {
  return claimsOf(await readFile(file, 'utf8').catch(() => ''))?.iss;
}
