// Tests a stored directory: connects, signs in there, and shows some of its entries as users.
import { Link } from 'wouter';
import { useWrite } from '../../api/queries.ts';
import * as api from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/state.tsx';
import { DirectoryFound } from './directory-found.tsx';

export function DirectoryTest({ realm, alias, edit }: { realm: string; alias: string; edit: string }) {
  const test = useWrite(api.testDirectory);
  const found = test.data?.body;
  return (
    <Panel
      title="Test the connection"
      lead="Connects, signs in there, and reads some people. Nothing is written."
      actions={<AsCommand commands={() => ({ curl: curlOf(api.testDirectory, { realm, alias }) })} quiet />}
    >
      <div className="stack">
        <div className="row">
          <Button
            variant="primary"
            isDisabled={test.isPending}
            onPress={() => test.mutate({ params: { realm, alias } })}
          >
            {test.isPending ? 'Asking the directory…' : found ? 'Test again' : 'Test the connection'}
          </Button>
        </div>
        {test.error && <ProblemNote problem={test.error} />}
        {found && (
          <DirectoryFound found={found}>
            <Link href={edit}>Change its settings</Link>, then test again.
          </DirectoryFound>
        )}
      </div>
    </Panel>
  );
}
