// Owns: asking the libraries of Flux, Helm and Argo CD how they read a resource.
// Does not own: the program that asks them (modules/kstatus), nor getting it (prepare.ts).
import path from 'node:path';
import { z } from 'zod';
import { type Assets, findAssets, kstatus } from './assets.ts';
import { run } from './processes.ts';

const Verdict = z.object({
  kind: z.string(),
  name: z.string(),
  /** InProgress, Failed, Current or Terminating: upstream's library. */
  status: z.string(),
  message: z.string(),
  /** The same of Flux's own fork, which Helm uses too. */
  flux: z.string(),
  /** What Argo CD's health check says, where one was given. */
  argo: z.object({ status: z.string(), message: z.string() }).optional(),
});
export type Verdict = z.infer<typeof Verdict>;

/** The health check for Argo CD, as its project would ship it. */
export const argoCheck = path.resolve(
  import.meta.dirname,
  '../../deploy/argo-cd/resource_customizations/realmkeeper.dev/_/health.lua',
);

export const kstatusAssets = (): Promise<Assets> => findAssets(kstatus);

/**
 * @param object as the Kubernetes API answers it
 * @param lua the path of an Argo CD health check
 */
export async function judge(object: string, lua?: string): Promise<Verdict> {
  const assets = await findAssets(kstatus);
  if (!assets.found) throw new Error(assets.reason);
  const program = path.join(assets.dir, 'kstatus');
  const { code, stdout, stderr } = await run(program, lua === undefined ? [] : ['-lua', lua], { input: object });
  if (code !== 0) throw new Error(`kstatus: ${stderr}`);
  return Verdict.parse(JSON.parse(stdout));
}
