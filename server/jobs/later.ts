// Owns: a job whose code is loaded with its first run.
// Does not own: the job's work (the feature's own Job record, which has the same terms).
// Implements: a server without SCIM targets, directories or messages loads none of their code (performance, "memory").
import { type Job, type Terms, termsOf } from './job.ts';

/** @param isDue for a repeated job: whether it has any work now */
export const lazyJob = <Payload>(
  terms: Terms<Payload>,
  load: () => Promise<Job | undefined>,
  isDue: () => Promise<boolean> = async () => true,
): Job => ({
  ...termsOf(terms),
  async run(payload, context) {
    if (!(await isDue())) return;
    const job = await load();
    if (!job) throw new Error(`the job ${terms.name} has no code`);
    await job.run(payload, context);
  },
});
