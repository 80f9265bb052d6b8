// The steps of a sign-in, numbered, and how it ends; the findings of the risk policy.
import type { OutputOf } from '../../api/client.ts';
import type { simulateSignIn } from '../../generated/routes.ts';
import { Badge, Chips } from '../../ui/badge.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Panel } from '../../ui/page.tsx';
import { Note } from '../../ui/state.tsx';
import { actionWords } from '../users/words.ts';

type Simulation = OutputOf<typeof simulateSignIn>;
export type SignInPath = Simulation['path'];
export type Risk = NonNullable<Simulation['risk']>;

/** The server names a required action as its API does. */
const nameOf = ({ kind, displayName }: SignInPath['steps'][number]): string =>
  kind === 'action'
    ? (new Map<string, string>(Object.entries(actionWords)).get(displayName) ?? displayName)
    : displayName;

const bound = {
  realm: 'the flow of the realm',
  client: 'the flow of the application',
  request: 'the flow that was chosen here',
} as const;
const ends = {
  'signed-in': { tone: 'good', words: 'The user is signed in' },
  refused: { tone: 'bad', words: 'The sign-in is refused' },
  stuck: { tone: 'bad', words: 'The user can’t go on' },
} as const;
const AFTERWARDS = { tone: 'info', words: 'Once nothing prevents it, the user is signed in' } as const;
const kinds = { proof: undefined, 'set-up': 'sets up first', action: 'required action' } as const;

/** @param isBarred the user can't sign in at all now, so these are the steps of the time after */
export function PathPanel({ title, path, isBarred = false }: { title: string; path: SignInPath; isBarred?: boolean }) {
  const end = isBarred && path.ends === 'signed-in' ? AFTERWARDS : ends[path.ends];
  return (
    <Panel
      title={title}
      lead={
        <>
          By the flow <bdi>{path.flow}</bdi>, {bound[path.boundBy]}.
        </>
      }
      plain
    >
      <ol className="steps">
        {path.steps.map((step, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step is its place
          <li key={at} className={step.able ? 'step ready' : 'step away'}>
            <span className="tick">
              {step.able ? <Icon name="check" size={12} /> : <Icon name="close" size={12} />}
            </span>
            <div className="stack tight">
              <strong>
                {at + 1}. {nameOf(step)}
              </strong>
              <p>{step.message}</p>
              {step.others.length > 0 && (
                <p className="row">
                  Or instead:
                  <Chips
                    items={step.others.map(({ displayName, able }) =>
                      able ? displayName : `${displayName} (not set up)`,
                    )}
                  />
                </p>
              )}
            </div>
            <span className="row">
              {kinds[step.kind] && <Badge>{kinds[step.kind]}</Badge>}
              {!step.able && <Badge tone="bad">not possible</Badge>}
            </span>
          </li>
        ))}
      </ol>
      <div className="content">
        <Note tone={end.tone}>
          <strong>
            {end.words}
            {path.level !== null && `, at level of assurance ${path.level}`}.
          </strong>
          {path.message !== ends[path.ends].words && <span>{path.message}</span>}
        </Note>
      </div>
    </Panel>
  );
}

const bands = { low: 'good', medium: 'warn', high: 'bad' } as const;
const actions = { allow: 'allowed', step_up: 'a further factor is asked for', deny: 'refused' } as const;

export function RiskBadge({ risk }: { risk: Risk }) {
  return (
    <Badge tone={bands[risk.band]}>
      {risk.band} risk, {Math.round(risk.score * 100) / 100}
    </Badge>
  );
}

export function RiskFindings({ risk }: { risk: Risk }) {
  return (
    <div className="stack tight">
      <p className="row">
        <RiskBadge risk={risk} />
        <span>The sign-in is {actions[risk.action]}.</span>
      </p>
      {risk.findings.length > 0 && (
        <ul className="bullets">
          {risk.findings.map(({ reason, message, points }) => (
            <li key={reason}>
              {message} <span className="soft">({points} points)</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
