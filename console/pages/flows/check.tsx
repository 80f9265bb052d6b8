// The server's opinion of the tree while it is edited: a dry run of a document with this flow alone, a moment after each edit.
import { useQuery } from '@tanstack/react-query';
import type { ServerProblem } from '../../api/client.ts';
import { type Plan, planOf } from '../../kinds/plan.ts';
import { Button } from '../../ui/button.tsx';
import { useLater } from '../../ui/later.ts';
import { Note, ProblemNote } from '../../ui/state.tsx';
import { documentOf, type Placed, stepAtPath, type Tree } from './tree-model.ts';
import { labelOf, type Registry } from './words.ts';

interface Fault {
  /** undefined: of the flow as a whole. */
  at: Placed | undefined;
  /** The field of the step: `config.roles`; '' is the step itself. */
  field: string;
  message: string;
}
export interface Check {
  state: 'unchanged' | 'checking' | 'sound' | 'faulty' | 'unknown';
  faults: readonly Fault[];
  problem: ServerProblem | null;
  plan: Plan | undefined;
}

const withoutPrefix = (path: string): string => path.replace(/^(body\.)?(flows(\[\d+\]|\.[^.[]+)\.?)?/, '');
/** The server begins with the step's name, which stands beside the message here. */
const shortened = (message: string, { step }: Placed): string => {
  const called = step.authenticatorId ?? step.name;
  const start = called === null ? '' : `(${called}): `;
  const own = start !== '' && message.includes(start) ? message.slice(message.indexOf(start) + start.length) : message;
  const text = own.replace('inside a CONDITIONAL container', 'in a group whose requirement is Conditional');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
};

export function faultsIn(problem: ServerProblem | null, all: readonly Placed[]): Fault[] {
  return (problem?.problem?.errors ?? []).map(({ path, message }) => {
    const found = stepAtPath(all, withoutPrefix(path));
    return found
      ? { at: found.at, field: found.rest, message: shortened(message, found.at) }
      : { at: undefined, field: path, message };
  });
}

export function useCheck(realm: string, alias: string, steps: Tree, all: readonly Placed[], isChanged: boolean): Check {
  const now = JSON.stringify({ flows: [{ alias, executions: documentOf(steps) }] });
  const later = useLater(now);
  const plan = useQuery<Plan | undefined, ServerProblem>({
    queryKey: [realm, 'flow-check', later],
    queryFn: () => planOf(realm, JSON.parse(later)),
    enabled: isChanged,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const faults = isChanged && later === now ? faultsIn(plan.error, all) : [];
  const isRefused = plan.error !== null && plan.error.status === 400;
  return {
    state: !isChanged
      ? 'unchanged'
      : later !== now || plan.isPending
        ? 'checking'
        : isRefused
          ? 'faulty'
          : plan.error
            ? 'unknown'
            : 'sound',
    faults,
    problem: plan.error,
    plan: plan.data,
  };
}

export function CheckView({
  check,
  idle,
  registry,
  onChoose,
}: {
  check: Check;
  /** The steps that no sign-in asks for. */
  idle: readonly Placed[];
  registry: Registry;
  onChoose: (key: string) => void;
}) {
  const { state, faults, problem, plan } = check;
  return (
    <div role="status" aria-label="The server’s check">
      {state === 'unchanged' && <p className="hint">The tree is as it was saved.</p>}
      {state === 'checking' && <p className="hint">The server checks the tree…</p>}
      {state === 'sound' && (
        <Note tone={idle.length > 0 ? 'warn' : 'good'}>
          <span>The server accepts this tree: users can sign in with it.</span>
          {plan?.consequences.map(({ message }) => (
            <span key={message}>{message}</span>
          ))}
          {idle.length > 0 && (
            <span>
              Never asked for:{' '}
              {idle.map(({ step, number }) => (
                <Button key={step.key} small variant="quiet" onPress={() => onChoose(step.key)}>
                  {number} <bdi>{labelOf(step, registry)}</bdi>
                </Button>
              ))}
            </span>
          )}
        </Note>
      )}
      {state === 'unknown' &&
        (problem && [403, 404].includes(problem.status) ? (
          <Note>
            Checking while you edit needs more permissions than you hold here. The server checks it when you save.
          </Note>
        ) : (
          <ProblemNote problem={problem} />
        ))}
      {state === 'faulty' && (
        <Note tone="bad">
          <strong>
            {faults.length === 1 ? 'One thing is to correct before it can be saved.' : 'It can’t be saved like this.'}
          </strong>
          <ul className="step-faults">
            {faults.map(({ at, field, message }) => (
              <li key={`${at?.step.key} ${field} ${message}`}>
                {at ? (
                  <>
                    <Button small variant="quiet" onPress={() => onChoose(at.step.key)}>
                      {at.number} <bdi>{labelOf(at.step, registry)}</bdi>
                    </Button>{' '}
                    {message}
                  </>
                ) : (
                  message
                )}
              </li>
            ))}
          </ul>
          {faults.length === 0 && problem && <span>{problem.message}</span>}
        </Note>
      )}
    </div>
  );
}
