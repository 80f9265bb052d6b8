// Checks the settings of an identity provider before they are saved: what the server finds there, in words.
import type { OutputOf } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import * as api from '../../generated/routes.ts';
import type { Row } from '../../kinds/entry.ts';
import { FaultNote } from '../../kinds/fault-note.tsx';
import { faultsOf } from '../../kinds/plan.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { IntoView } from '../../ui/into-view.tsx';
import { OutboundAdvice } from '../../ui/outbound-advice.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { Note, ProblemNote } from '../../ui/state.tsx';

type Tested = OutputOf<typeof api.testIdentityProvider>;

const tones = { passed: 'good', warning: 'warn', failed: 'bad' } as const;

export function ProviderTest({ realm, body }: { realm: string; body: Row }) {
  const test = useWrite(api.testIdentityProvider);
  const faults = faultsOf(test.error);
  const { secret: _, ...settings } = body;
  // the server judges the answers by the contract
  const asked = settings as NonNullable<Parameters<typeof test.mutate>[0]['body']>;
  const found = test.data?.body;
  return (
    <Panel
      title="Check the settings"
      lead="Fetches what the provider publishes. No secret is sent, and nothing is saved."
    >
      <div className="stack">
        <div className="row">
          <Button isDisabled={test.isPending} onPress={() => test.mutate({ params: { realm }, body: asked })}>
            {test.isPending ? 'Asking the provider…' : 'Check them'}
          </Button>
        </div>
        {!test.isPending && !test.isIdle && (
          <IntoView key={test.submittedAt}>
            {faults.size > 0 && <FaultNote faults={faults} />}
            {test.error && faults.size === 0 && <ProblemNote problem={test.error} />}
            {found && <Checked tested={found} />}
          </IntoView>
        )}
      </div>
    </Panel>
  );
}

function Checked({ tested: { ok, checks, found } }: { tested: Tested }) {
  return (
    <>
      <Note tone={ok ? 'good' : 'bad'} live>
        <strong>
          {ok ? 'The provider can be used with these settings.' : 'Sign-ins by this provider would fail.'}
        </strong>
      </Note>
      <ul className="faults">
        {checks.map(({ check, result, message }) => (
          <li key={`${check} ${message}`}>
            <Badge tone={tones[result]}>{result}</Badge> <bdi>{message}</bdi> <OutboundAdvice answer={message} />
          </li>
        ))}
      </ul>
      {Object.keys(found).length > 0 && (
        <Facts
          facts={Object.entries(found).map(([name, value]) => ({ name, value: <bdi className="mono">{value}</bdi> }))}
        />
      )}
    </>
  );
}
