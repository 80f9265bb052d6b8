// The secrets that the quick start generates if the environment sets none: stored beside the data (mode 0600), printed
// once. The values are random and long, so no password rule applies. Decisions "Where it listens, what it reads".
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
  /** Whether a start has printed them, so that none prints them again. */
  shown: z.boolean(),
});
type Kept = z.infer<typeof Kept>;

export interface DemoSecrets extends Kept {
  file: string;
  /** Call it once they have been printed. */
  markShown(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

async function save(file: string, kept: Kept): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o755 });
  await writeFile(`${file}.new`, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

async function load(file: string): Promise<Kept | undefined> {
  try {
    return Kept.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Error(`${file} is damaged: restore it, or remove it to have new secrets made`, { cause: error });
  }
}

/** Values of the environment take precedence over stored ones. @param dir the data directory */
export async function demoSecrets(env: Environment, dir: string): Promise<DemoSecrets> {
  const file = path.join(dir, 'quickstart.json');
  const kept = (await load(file)) ?? {
    operator: newToken('svc_cs_'),
    demoPassword: randomBytes(12).toString('base64url'),
    demoClientSecret: newToken('svc_cs_'),
    webhook: randomBytes(32).toString('base64url'),
    shown: false,
  };
  await save(file, kept);
  return {
    ...kept,
    file,
    operator: env.SVC_OPERATOR_CLIENT_SECRET || kept.operator,
    demoPassword: env.SVC_DEMO_PASSWORD || kept.demoPassword,
    demoClientSecret: env.SVC_DEMO_CLIENT_SECRET || kept.demoClientSecret,
    markShown: () => save(file, { ...kept, shown: true }),
  };
}
