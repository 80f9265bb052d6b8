// The actions on an agent by its state: activate, review, suspend, revoke. Each is done at once; revoking asks first.
import { useState } from 'react';
import type { OutputOf } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { activateAgent, reviewAgent, revokeAgent, suspendAgent } from '../../generated/routes.ts';
import { ConfirmWrite } from '../../kinds/confirm-write.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';

export type Agent = OutputOf<typeof activateAgent>;
type Status = Agent['status'];

const tones = { draft: 'info', active: 'good', suspended: 'warn', revoked: 'bad' } as const;
export const StatusBadge = ({ status }: { status: Status }) => <Badge tone={tones[status]}>{status}</Badge>;

export function AgentMoves({
  realm,
  agent: { id, name, status },
  small = false,
}: {
  realm: string;
  agent: Pick<Agent, 'id' | 'name' | 'status'>;
  small?: boolean;
}) {
  // the agent may leave the list by it
  const done = (words: string) => ({ onDone: () => say(`${name} ${words}.`) });
  const activate = useWrite(activateAgent, done('is active'));
  const review = useWrite(reviewAgent, done('is reviewed'));
  const suspend = useWrite(suspendAgent, done('is suspended'));
  const [asks, setAsks] = useState(false);
  const params = { realm, id };
  const refused = [activate, review, suspend].find(({ error }) => error !== null);
  const moves = [
    { words: 'Activate', by: activate, is: status === 'draft' || status === 'suspended' },
    { words: 'Confirm the need', by: review, is: status === 'active' },
    { words: 'Suspend', by: suspend, is: status === 'active' },
  ].filter(({ is }) => is);
  return (
    <>
      {moves.map(({ words, by }) => (
        <Button
          key={words}
          small={small}
          aria-label={small ? `${words}: ${name}` : words}
          isDisabled={by.isPending}
          onPress={() => by.mutate({ params })}
        >
          {words}
        </Button>
      ))}
      {status !== 'revoked' && (
        <Button
          small={small}
          variant="danger"
          aria-label={small ? `Revoke: ${name}` : 'Revoke'}
          onPress={() => setAsks(true)}
        >
          Revoke
        </Button>
      )}
      {refused && (
        <Dialog
          title={name}
          isOpen
          alert
          onClose={() => refused.reset()}
          footer={<Button onPress={() => refused.reset()}>Close</Button>}
        >
          <ProblemNote problem={refused.error} />
        </Dialog>
      )}
      {asks && (
        <ConfirmWrite
          title={`Revoke ${name}?`}
          action="Revoke for good"
          route={revokeAgent}
          input={{ params }}
          done={`${name} is revoked.`}
          onClose={() => setAsks(false)}
        >
          <p>Its client gets no tokens from now on. A revoked agent can’t be activated again.</p>
        </ConfirmWrite>
      )}
    </>
  );
}
