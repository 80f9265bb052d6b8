// Resolves a deadlock between a Realm whose clients name a Flow, and the Flow that attaches to that Realm. The realm is
// created without those clients, the Flow is applied, and the Realm is tried again. Decisions "Custom resources".
import { type Client, ServerProblem } from '../../server/contract/client.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { Waiting } from './outcome.ts';

/** @throws Waiting if only flows are missing, else the refusal */
export async function flowsFirst(
  client: Client,
  { realm, manager, make }: { realm: string; manager: string; make: boolean },
  refusal: unknown,
): Promise<never> {
  const faults = (refusal instanceof ServerProblem && refusal.problem?.errors) || [];
  if (faults.length === 0 || faults.some(({ missing }) => missing?.kind !== 'flow')) throw refusal;
  if (make) await makeRealm(client, { realm, manager });
  const words = [...new Set(faults.map(({ message }) => message))].join('; ');
  throw new Waiting('FlowMissing', `waiting for a Flow resource: ${words}`);
}

const makeRealm = (client: Client, { realm, manager }: { realm: string; manager: string }): Promise<unknown> =>
  client
    .call(importRealm, { params: { realm }, query: { manager }, body: {}, headers: { 'if-match': '"0"' } })
    .catch((error: unknown) => {
      // the realm exists already
      if (!(error instanceof ServerProblem && error.status === 412)) throw error;
    });
