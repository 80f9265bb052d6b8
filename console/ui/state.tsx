// The states of a page without content: it is loading, it is empty, it failed.
import { Children, type ReactNode } from 'react';
import { ServerProblem } from '../api/client.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icons.tsx';

const WIDTHS = ['w40', 'w80', 'w65', 'w75', 'w50'] as const;

/** Grey lines in the place of what comes. */
export function Loading({ lines = 4, label = 'Loading' }: { lines?: number; label?: string }) {
  return (
    <div className="skeletons" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all the same
        <span key={at} className={`skeleton ${WIDTHS[at % WIDTHS.length]}`} />
      ))}
    </div>
  );
}

/** Says what belongs here, and how it gets here. */
export function Empty({
  icon = 'info',
  title,
  children,
  actions,
}: {
  icon?: IconName;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <div className="empty">
      <Icon name={icon} size={32} />
      <h2>{title}</h2>
      {children}
      {actions && <div className="row">{actions}</div>}
    </div>
  );
}

export type Tone = 'info' | 'good' | 'warn' | 'bad';
const icons = { info: 'info', good: 'check', warn: 'alert', bad: 'alert' } as const satisfies Record<Tone, IconName>;

/** Elements in it have a line each; a text with elements in it is one line. */
export function Note({ tone = 'info', children, live }: { tone?: Tone; children: ReactNode; live?: boolean }) {
  const isText = Children.toArray(children).some((child) => typeof child === 'string' && child.trim() !== '');
  return (
    <div className={`note ${tone}`} {...(live && { role: 'alert' })}>
      <Icon name={icons[tone]} />
      <div>{isText ? <span>{children}</span> : children}</div>
    </div>
  );
}

/** Advice to an administrator about a refusal. */
const NEXT: readonly [test: (problem: ServerProblem) => boolean, next: string][] = [
  [({ status }) => status === 0, 'Check the connection, and whether the server runs. Nothing was lost; try again.'],
  [(problem) => problem.is('forbidden'), 'Ask an administrator of the realm for an admin role with this permission.'],
  [(problem) => problem.is('privilege-escalation'), 'An administrator with these permissions can do it.'],
  [(problem) => problem.is('not-found'), 'It may have been deleted meanwhile, or the address is wrong.'],
  [(problem) => problem.is('in-use'), 'Change what refers to it first.'],
  [(problem) => problem.is('name-taken'), 'Choose another name.'],
  [({ status }) => status === 429, 'Wait a moment, then try again.'],
  [({ status }) => status >= 500, 'The server’s log has the cause. Try again in a moment.'],
];

/** What to do after a refusal. */
export const adviceOn = (problem: ServerProblem): string | undefined => NEXT.find(([test]) => test(problem))?.[1];

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** A refusal in words: what happened, where, and what to do next. */
export function ProblemNote({
  problem,
  retry,
  quietFields,
}: {
  problem: unknown;
  retry?: () => void;
  quietFields?: boolean;
}) {
  if (!(problem instanceof ServerProblem)) {
    return (
      <Note tone="bad" live>
        <strong>The console failed here.</strong>
        <span className="small">{problem instanceof Error ? sentence(problem.message) : 'The cause is unknown.'}</span>
      </Note>
    );
  }
  const { problem: details, status } = problem;
  const next = adviceOn(problem);
  const title = details?.title ?? problem.message;
  // a detail often says the only fault already
  const faults = (details?.errors ?? []).filter(
    ({ path, message }) => !problem.message.includes(`${path}: ${message}`),
  );
  return (
    <Note tone="bad" live>
      <strong>{sentence(title)}</strong>
      {problem.message !== title && <span>{sentence(problem.message)}</span>}
      {!quietFields && faults.length > 0 && (
        <ul>
          {faults.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code>{path}</code>: {message}
            </li>
          ))}
        </ul>
      )}
      {next && <span>{next}</span>}
      {details?.instance && (
        <span className="small mono" dir="ltr">
          {status} {details.instance}
        </span>
      )}
      {retry && (
        <span>
          <Button small onPress={retry}>
            Try again
          </Button>
        </span>
      )}
    </Note>
  );
}
