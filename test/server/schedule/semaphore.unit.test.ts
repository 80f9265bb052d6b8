import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSemaphore } from '../../../server/schedule/semaphore.ts';

test('never two of one realm, never more than allowed, nobody is left waiting, whatever fails', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.record({ realm: fc.constantFrom('a', 'b', 'c', 'd'), fails: fc.boolean() }), { maxLength: 20 }),
      async (scheduler, visits) => {
        const semaphore = createSemaphore({ perKey: 1, inAll: 3 });
        const inside: string[] = [];
        const all = visits.map(({ realm, fails }) =>
          semaphore(realm, async () => {
            expect(inside).not.toContain(realm);
            inside.push(realm);
            expect(inside.length).toBeLessThanOrEqual(3);
            await scheduler.schedule(Promise.resolve(), realm);
            inside.splice(inside.indexOf(realm), 1);
            if (fails) throw new Error('failed');
          }),
        );
        const settled = Promise.allSettled(all);
        await scheduler.waitFor(settled);
        const results = await settled;
        expect(results.map((r) => r.status === 'rejected')).toEqual(visits.map((v) => v.fails));
      },
    ),
  );
});
