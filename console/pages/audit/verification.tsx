// Checks the chain of hashes over the audit log, block by block, and names the last block, to be noted elsewhere.
import { useEffect, useState } from 'react';
import { call, type OutputOf, type ServerProblem } from '../../api/client.ts';
import { verifyEvents } from '../../generated/routes.ts';
import { word } from '../../kinds/shell-words.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/page.tsx';
import { Note, ProblemNote } from '../../ui/state.tsx';

type Part = OutputOf<typeof verifyEvents>;

const problems = {
  events: 'Its events are not those that were sealed.',
  link: 'Its hash is not that of the block and the one before.',
  missing: 'The block before it is gone.',
  unsealed: 'There are events that are in no block and do not wait for one.',
} as const satisfies Record<Part['faults'][number]['problem'], string>;

interface Sum {
  blocks: number;
  events: number;
  forgotten: number;
  erased: number;
  faults: Part['faults'];
  last: Part['last'];
  waiting: number;
  isDone: boolean;
}
const nothing: Sum = {
  blocks: 0,
  events: 0,
  forgotten: 0,
  erased: 0,
  faults: [],
  last: null,
  waiting: 0,
  isDone: false,
};

const added = (sum: Sum, part: Part): Sum => ({
  blocks: sum.blocks + part.blocks,
  events: sum.events + part.events,
  forgotten: sum.forgotten + part.forgotten,
  erased: sum.erased + part.erased,
  faults: [...sum.faults, ...part.faults],
  last: part.last ?? sum.last,
  waiting: part.waiting ?? sum.waiting,
  isDone: part.next === null,
});

export function Verification({ realm, onClose }: { realm: string; onClose: () => void }) {
  const [sum, setSum] = useState(nothing);
  const [problem, setProblem] = useState<ServerProblem>();
  useEffect(() => {
    const stopped = new AbortController();
    const check = async () => {
      let now = nothing;
      let after: number | null = 0;
      while (after !== null) {
        const { body }: { body: Part | undefined } = await call(verifyEvents, {
          params: { realm },
          query: { after },
          signal: stopped.signal,
        });
        if (!body) return;
        now = added(now, body);
        setSum(now);
        after = body.next;
      }
    };
    check().catch((cause) => {
      if (!stopped.signal.aborted) setProblem(cause);
    });
    return () => stopped.abort();
  }, [realm]);
  const { blocks, events, forgotten, erased, faults, last, waiting, isDone } = sum;
  return (
    <Dialog
      title="Verify the log"
      isOpen
      onClose={onClose}
      size="wide"
      footer={<Button onPress={onClose}>{isDone || problem ? 'Close' : 'Stop'}</Button>}
    >
      <p className="soft">
        Events are sealed in blocks. The hash of each block covers the block before, so a change of any event shows.
      </p>
      {problem && <ProblemNote problem={problem} />}
      <div role="status">
        {!isDone && !problem && <p>{events.toLocaleString('en')} events are checked so far…</p>}
        {isDone && faults.length === 0 && (
          <Note tone="good">
            <strong>The log is as it was written.</strong>
          </Note>
        )}
        {faults.length > 0 && (
          <Note tone="bad">
            <strong>{faults.length === 1 ? 'One fault.' : `${faults.length} faults.`}</strong>
            <ul>
              {faults.map(({ block, problem: fault }) => (
                <li key={`${block} ${fault}`}>
                  {block !== null && `Block ${block}: `}
                  {problems[fault]}
                </li>
              ))}
            </ul>
          </Note>
        )}
      </div>
      <Facts
        facts={[
          { name: 'Blocks', value: blocks.toLocaleString('en') },
          { name: 'Events', value: events.toLocaleString('en') },
          { name: 'Deleted by age', value: forgotten.toLocaleString('en') },
          { name: 'Blocks with erased people', value: erased.toLocaleString('en') },
          ...(isDone ? [{ name: 'Not sealed yet', value: waiting.toLocaleString('en') }] : []),
        ]}
      />
      {last && (
        <>
          <p className="hint">
            Note the last block elsewhere. As long as the chain has it, nothing up to it was changed.
          </p>
          <Code
            text={`realmctl events verify -r ${word(realm)} --noted ${last.number}:${last.hash}`}
            label="the check with the last block"
          />
        </>
      )}
    </Dialog>
  );
}
