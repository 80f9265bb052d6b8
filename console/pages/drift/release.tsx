// Releases all that a manager owns; the objects stay, or go with it.
import { useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { releaseManager } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { realmctl } from '../../kinds/shell-words.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Toggle } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';

export function ReleaseDialog({ realm, manager, onClose }: { realm: string; manager: string; onClose: () => void }) {
  const release = useWrite(releaseManager);
  const [deletes, setDeletes] = useState(false);
  const [typed, setTyped] = useState('');
  const query = deletes ? ({ objects: 'delete' } as const) : {};
  return (
    <Dialog
      title="Release what it owns?"
      isOpen
      alert
      onClose={onClose}
      footer={
        <>
          <AsCommand
            quiet
            commands={() => ({
              realmctl: realmctl('managers release', [realm, manager], ...(deletes ? ['--delete-objects'] : [])),
              curl: curlOf(releaseManager, { realm, manager }, undefined, query),
            })}
          />
          <Button onPress={onClose}>Cancel</Button>
          <Button
            variant="danger primary"
            isDisabled={release.isPending || (deletes && typed !== manager)}
            onPress={() =>
              release.mutate(
                { params: { realm, manager }, query },
                {
                  onSuccess: () => {
                    say(`Released what ${manager} owned.`);
                    onClose();
                  },
                },
              )
            }
          >
            {deletes ? 'Release and delete' : 'Release'}
          </Button>
        </>
      }
    >
      {release.error && <ProblemNote problem={release.error} />}
      <p>
        <code>{manager}</code> owns nothing afterwards. If it still runs, it takes the objects again with its next run.
      </p>
      <Toggle
        label="Delete the objects too"
        help="Users are only released."
        isSelected={deletes}
        onChange={setDeletes}
      />
      {deletes && (
        <>
          <Note tone="bad">All objects that it owns are deleted at once. This can’t be taken back here.</Note>
          <TextField label={`Type ${manager} to go on`} value={typed} onChange={setTyped} mono />
        </>
      )}
    </Dialog>
  );
}
