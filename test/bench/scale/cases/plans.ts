// A change of one field in the configuration of a realm with many clients: planned alone, and within the whole document.
import { GROWN_REALM } from '../fill.ts';
import { type Asking, growthOf, read, requestCase, type ScaleCase, timesOf } from '../growth.ts';
import type { Side } from '../site.ts';

const realm = `/admin/realms/${GROWN_REALM}`;
const exported = `${realm}/export?users=false`;

const plan = ({ admin }: Side, body: string): Promise<string> =>
  read(admin(`${realm}/import?dryRun=true`, { method: 'POST', headers: { 'content-type': 'application/json' }, body }));

/** The realm's document, with another name of a client each time. */
async function whole(side: Side): Promise<Asking> {
  const document: { clients: { clientId: string; name?: string }[] } = JSON.parse(await read(side.admin(exported)));
  const one = document.clients.find(({ clientId }) => clientId === 'grown-5');
  if (!one) throw new Error('the export lacks a client');
  return async (turn) => {
    one.name = `Name ${turn}`;
    const answer = await plan(side, JSON.stringify(document));
    if (!answer.includes('grown-5')) throw new Error(`the plan lacks the change: ${answer.slice(0, 300)}`);
  };
}

export const planCases: readonly ScaleCase[] = [
  requestCase('plan-one', 'plan of one field of one client', (side) => async (turn) => {
    await plan(side, JSON.stringify({ clients: [{ clientId: 'grown-5', name: `Name ${turn}` }] }));
  }),
  {
    name: 'plan-whole',
    title: 'plan of the whole document with one changed field / its export',
    goal: { atMost: 2 },
    async run(lab) {
      const planned = await timesOf(lab, whole);
      const beside = await timesOf(
        lab,
        ({ admin }) =>
          () =>
            read(admin(exported)),
      );
      return {
        ratio: planned.large / beside.large,
        figures: `${growthOf(planned, 'ms').figures} beside ${growthOf(beside, 'ms').figures}`,
      };
    },
  },
];
