// The steps that a user would go through, and how the sign-in ends.
import type { OutputOf } from '../../api/client.ts';
import type { simulateSignIn } from '../../generated/routes.ts';
import { Badge } from '../../ui/badge.tsx';
import { Panel } from '../../ui/page.tsx';
import { Note } from '../../ui/state.tsx';

type Path = OutputOf<typeof simulateSignIn>['path'];

const kinds = { proof: 'Asked for', 'set-up': 'Set up first', action: 'Required action' } as const;
const ends = {
  'signed-in': { tone: 'good', words: 'The user is signed in' },
  refused: { tone: 'bad', words: 'The sign-in is refused' },
  stuck: { tone: 'bad', words: 'The user can’t go on' },
} as const;

export function SignInPath({ path }: { path: Path }) {
  const end = ends[path.ends];
  return (
    <Panel title="What the user is asked for">
      <div className="stack">
        {path.steps.length === 0 && <p className="soft">Nothing.</p>}
        <ol className="path-steps">
          {path.steps.map(({ kind, displayName, able, message, others }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a step is its place
            <li key={at}>
              <span className="row">
                <strong>{displayName}</strong>
                <Badge tone={able ? 'good' : 'bad'}>{able ? 'can do it' : 'can’t do it'}</Badge>
                {kind !== 'proof' && <Badge tone="info">{kinds[kind]}</Badge>}
              </span>
              <span className="soft">{message}</span>
              {others.length > 0 && (
                <span className="soft small">
                  Instead:{' '}
                  {others.map((other) => `${other.displayName}${other.able ? '' : ' (not set up)'}`).join(', ')}
                </span>
              )}
            </li>
          ))}
        </ol>
        <Note tone={end.tone}>
          <strong>
            {end.words}
            {path.level !== null && `, at level of assurance ${path.level}`}.
          </strong>
          <span>{path.message}</span>
        </Note>
      </div>
    </Panel>
  );
}
