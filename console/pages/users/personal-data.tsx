// A user's personal data: an export of what the realm holds, and erasure.
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { type ConsoleAnswer, call, type OutputOf, type ServerProblem } from '../../api/client.ts';
import { readAnew } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { eraseUser, exportUserData } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { saveFile } from '../../ui/download.ts';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';
import type { UserTab } from './user.tsx';
import { Erase } from './user-actions.tsx';

export default function PersonalData({ realm, user, etag }: UserTab) {
  const may = useMay();
  const params = { realm, userId: user.id };
  const [erases, setErases] = useState(false);
  // it is read once for each press, as each reading is in the audit log
  const read = useMutation<ConsoleAnswer<OutputOf<typeof exportUserData>>, ServerProblem>({
    mutationFn: () => call(exportUserData, { params }),
    onSuccess: async ({ body }) => {
      saveFile(`${realm}-${user.id}.json`, JSON.stringify(body, null, 2));
      say('Saved the export as a file.');
      await readAnew(realm);
    },
  });
  return (
    <div className="stack">
      <Panel
        title="Export"
        lead="Profile, attributes, roles, organizations, credentials by kind, consents and sign-ins, as a JSON file."
        actions={<AsCommand quiet commands={() => requestCommands(exportUserData, params)} />}
      >
        <div className="stack">
          <p>The audit log records the export, and the user sees it in their activity.</p>
          <div>
            <Button isDisabled={read.isPending} onPress={() => read.mutate()}>
              {read.isPending ? 'Exporting…' : 'Export'}
            </Button>
          </div>
          {read.error && <ProblemNote problem={read.error} />}
        </div>
      </Panel>
      {may(realm, 'users:write') && (
        <Panel
          title="Erase"
          lead="Deletes the user and replaces them by a pseudonym in the audit log. It can’t be undone."
          actions={<AsCommand quiet commands={() => requestCommands(eraseUser, params)} />}
        >
          <div>
            <Button variant="danger" icon="delete" onPress={() => setErases(true)}>
              Erase the user
            </Button>
          </div>
        </Panel>
      )}
      {erases && <Erase realm={realm} user={user} etag={etag} onClose={() => setErases(false)} />}
    </div>
  );
}
