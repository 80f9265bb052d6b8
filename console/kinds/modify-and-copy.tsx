// The end of "modify and copy": the declaration with the reader's changes, to be taken to where it is declared. Nothing is saved.
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { Button } from '../ui/button.tsx';
import { Code } from '../ui/code.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Loading, Note } from '../ui/state.tsx';
import type { Copied } from './copied.ts';

export function CopyDialog({ make, onClose }: { make: () => Promise<Copied>; onClose: () => void }) {
  // another dialog asks anew
  const id = useId();
  const made = useQuery({
    queryKey: ['copied', id],
    queryFn: make,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return (
    <Dialog
      title="Take the change to where it is declared"
      isOpen
      onClose={onClose}
      size="wide"
      footer={
        <Button variant="primary" onPress={onClose}>
          Back to the form
        </Button>
      }
    >
      <p className="soft">Nothing is saved here. Secrets are left out.</p>
      {made.data ? (
        <div className="stack">
          <section className="stack tight">
            <h3>What you changed</h3>
            <Code text={made.data.changed} label="what you changed" />
          </section>
          {made.data.whole !== undefined && (
            <section className="stack tight">
              <h3>The whole object with your changes</h3>
              <Code text={made.data.whole} label="the whole object" />
            </section>
          )}
          {made.data.command !== undefined && (
            <section className="stack tight">
              <h3>In the cluster</h3>
              <Code text={made.data.command} label="the command" />
              <p className="hint">
                If the resource comes from a repository, change it there: it would be set back otherwise.
              </p>
            </section>
          )}
        </div>
      ) : made.error ? (
        <Note tone="bad" live>
          <strong>The declaration can’t be written.</strong>
          <span>{made.error.message}</span>
        </Note>
      ) : (
        <Loading />
      )}
    </Dialog>
  );
}
