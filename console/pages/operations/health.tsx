// Whether a realm can sign users in, and whether its messages and webhooks arrive; asked for again every few seconds.
import { useRead } from '../../api/queries.ts';
import { getRealmHealth } from '../../generated/routes.ts';
import { FullValue } from '../../kinds/cells.tsx';
import { labelOf } from '../../kinds/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';

const LOOK_SECONDS = 15;

/** The counted things, where the name alone says too little. */
const words: Readonly<Record<string, string>> = {
  activeKeyId: 'Key that signs',
  published: 'Published keys',
  readable: 'The master key opens it',
  olderKeys: 'Older master keys',
  sealedUnderOlder: 'Secrets sealed under an older one',
  alias: 'Flow',
  exists: 'The flow exists',
  methods: 'Ways to sign in',
  ready: 'Ready to use',
  failing: 'Failing now',
  deadLetters: 'Given up',
  enabled: 'Switched on',
  waiting: 'Waiting',
};

const cellOf = (name: string, value: unknown) =>
  typeof value === 'number' && /At$/.test(name)
    ? 'time'
    : Array.isArray(value)
      ? 'list'
      : typeof value === 'object'
        ? 'json'
        : 'text';

export function RealmHealth({ realm }: { realm: string }) {
  const health = useRead(getRealmHealth, { params: { realm } }, { everySeconds: LOOK_SECONDS });
  const found = health.data?.body;
  if (health.error && !found) return <ProblemNote problem={health.error} retry={() => void health.refetch()} />;
  if (!found) return <Loading lines={6} />;
  const components = Object.entries(found.components);
  const down = components.filter(([, { status }]) => status === 'DOWN').map(([name]) => labelOf(name));
  return (
    <div className="stack">
      <div role="status">
        <Note tone={found.status === 'UP' ? 'good' : 'bad'}>
          <strong>{found.status === 'UP' ? 'The realm works.' : `Something is wrong: ${down.join(', ')}.`}</strong>
        </Note>
      </div>
      {components.map(([name, { status, details = {} }]) => (
        <Panel
          key={name}
          title={labelOf(name)}
          plain
          actions={<Badge tone={status === 'UP' ? 'good' : 'bad'}>{status === 'UP' ? 'works' : 'fails'}</Badge>}
        >
          {Object.keys(details).length > 0 && (
            <Facts
              facts={Object.entries(details).map(([detail, value]) => ({
                name: words[detail] ?? labelOf(detail),
                value: <FullValue field={detail} cell={cellOf(detail, value)} value={value} />,
              }))}
            />
          )}
        </Panel>
      ))}
    </div>
  );
}
