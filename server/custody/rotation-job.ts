// The rotation of data keys by schedule (SVC_DATA_KEY_DAYS): a new key, then everything sealed again under it, then the older keys go.
// Each run does what is due, so it is safe to repeat.
import { DAY_MS } from '../contract/durations.ts';
import { bySystem } from '../contract/events.ts';
import { MASTER } from '../contract/realms.ts';
import type { Transact } from '../db/transact.ts';
import type { Reseal } from '../domain/reseal.ts';
import { type Job, job } from '../jobs/job.ts';
import type { Custody } from './custody.ts';
import { LOOK_MS } from './data-keys.ts';
import { rotationTerms } from './rotation-terms.ts';

export const rotationJob = ({
  custody,
  reseal,
  transact,
  days,
}: {
  custody: Custody;
  reseal: Reseal;
  transact: Transact;
  days: number;
}): Job =>
  job({
    ...rotationTerms,
    async run() {
      const { custodian } = custody.status();
      const record = (data: { custodian: string; added?: number; dropped?: number }) =>
        transact(undefined, async (tx) => {
          tx.record({ type: 'DATA_KEY_ROTATED', realm: MASTER, by: bySystem, data });
        });
      if (await custody.rotate(days * DAY_MS)) return record({ custodian, added: 1 });
      if (!(await custody.sealsSince(2 * LOOK_MS))) return;
      for await (const done of reseal.run())
        if (done.unreadable > 0) throw new Error(`${done.column}: ${done.unreadable} are under a key that isn't here`);
      // Values that live for minutes are not sealed again (compose/sealed-columns.ts).
      if (!(await custody.sealsSince(DAY_MS)) || (await reseal.left()).some(({ secrets }) => secrets > 0)) return;
      const dropped = await custody.dropOlder();
      if (dropped > 0) await record({ custodian, dropped });
    },
  });
