// The content of a page, or of its form before it is saved, for other tools: `realmctl`, curl, a manifest for Git.

import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Button, IconButton } from './button.tsx';
import { Code } from './code.tsx';
import { Dialog } from './dialog.tsx';
import { Help } from './help.tsx';
import { Loading, ProblemNote } from './state.tsx';

export interface Commands {
  realmctl?: string;
  curl?: string;
  /** YAML. */
  manifest?: string;
}
export type CommandKind = keyof Commands;

const kinds = [
  { id: 'realmctl', label: 'realmctl', help: 'After `realmctl login`, which opens your browser.' },
  { id: 'curl', label: 'curl', help: 'With a token of `realmctl token`.' },
  {
    id: 'manifest',
    label: 'Manifest',
    help: 'For `kubectl apply`, the operator’s folder, and `realmctl apply -f`.',
  },
] as const satisfies readonly { id: CommandKind; label: string; help: string }[];

/** @param commands called when the dialog opens, as what it shows may need more code */
export function AsCommand({
  commands,
  label = 'As command',
  start,
  quiet,
  small,
  icon,
}: {
  commands: () => Commands | Promise<Commands>;
  label?: string;
  start?: CommandKind;
  quiet?: boolean;
  small?: boolean;
  /** Without words, in a row of a list; the label is its name. */
  icon?: true;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {icon ? (
        <IconButton label={label} icon="code" small onPress={() => setOpen(true)} />
      ) : (
        <Button
          icon="code"
          onPress={() => setOpen(true)}
          {...(quiet && { variant: 'quiet' as const })}
          {...(small && { small })}
        >
          {label}
        </Button>
      )}
      {isOpen && <CommandDialog commands={commands} start={start} onClose={() => setOpen(false)} />}
    </>
  );
}

function CommandDialog({
  commands,
  start,
  onClose,
}: {
  commands: () => Commands | Promise<Commands>;
  start: CommandKind | undefined;
  onClose: () => void;
}) {
  const [chosen, setChosen] = useState<CommandKind | undefined>(start);
  const dialog = useId();
  const made = useQuery({ queryKey: ['commands', dialog], queryFn: async () => commands(), gcTime: 0 });
  const there = kinds.filter(({ id }) => made.data?.[id] !== undefined);
  const shown = there.find(({ id }) => id === chosen) ?? there[0];
  return (
    <Dialog title="The same elsewhere" isOpen onClose={onClose} size="wide">
      {made.error ? (
        <ProblemNote problem={made.error} retry={() => void made.refetch()} />
      ) : !made.data ? (
        <Loading />
      ) : (
        <>
          <div className="tab-list" role="tablist" aria-label="Tool">
            {there.map(({ id, label }) => (
              <button
                key={id}
                type="button"
                role="tab"
                id={`${dialog}-${id}`}
                aria-selected={id === shown?.id}
                data-selected={id === shown?.id || undefined}
                className="tab plain"
                onClick={() => setChosen(id)}
              >
                {label}
              </button>
            ))}
          </div>
          {shown && (
            <div role="tabpanel" aria-labelledby={`${dialog}-${shown.id}`} className="stack tight">
              <p className="hint">
                <Help text={shown.help} />
              </p>
              <Code text={made.data[shown.id] ?? ''} label={shown.label} />
            </div>
          )}
        </>
      )}
    </Dialog>
  );
}
