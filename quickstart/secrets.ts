// What the quick start makes up where the environment says nothing: kept beside the data (mode 0600), printed once.
// It owns no password rule; the values are random and long. Decisions "Where it listens, what it reads".
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { newToken } from '../server/crypto/tokens.ts';

const Kept = z.strictObject({
  operator: z.string(),
  demoPassword: z.string(),
  demoClientSecret: z.string(),
  webhook: z.string(),
});
export type DemoSecrets = z.infer<typeof Kept> & {
  /** Made by this start, so this is the time to print them. */
  fresh: boolean;
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment's values win over those that were kept.
 * @param dir the data directory
 */
export async function demoSecrets(env: Environment, dir: string): Promise<DemoSecrets> {
  const file = path.join(dir, 'quickstart.json');
  const kept = await readFile(file, 'utf8').then(
    (text) => Kept.parse(JSON.parse(text)),
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    },
  );
  const made = kept ?? {
    operator: newToken('svc_cs_'),
    demoPassword: randomBytes(12).toString('base64url'),
    demoClientSecret: newToken('svc_cs_'),
    webhook: randomBytes(32).toString('base64url'),
  };
  if (!kept) {
    await mkdir(dir, { recursive: true, mode: 0o755 });
    await writeFile(`${file}.new`, JSON.stringify(made, null, 2), { mode: 0o600 });
    await rename(`${file}.new`, file);
  }
  return {
    operator: env.SVC_OPERATOR_CLIENT_SECRET || made.operator,
    demoPassword: env.SVC_DEMO_PASSWORD || made.demoPassword,
    demoClientSecret: env.SVC_DEMO_CLIENT_SECRET || made.demoClientSecret,
    webhook: made.webhook,
    fresh: !kept,
  };
}
