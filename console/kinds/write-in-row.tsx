// A write of run-time data by a button in a row of a list, and the same write for other tools.
import type { AnyRoute, InputOf } from '../api/client.ts';
import type { Write } from '../api/queries.ts';
import { AsCommand, type Commands } from '../ui/as-command.tsx';
import { Button } from '../ui/button.tsx';
import { say } from '../ui/toast.tsx';

export function WriteInRow<R extends AnyRoute>({
  write,
  input,
  words,
  name,
  done,
  command,
  commands,
}: {
  /** Of the whole list, which shows its problem. */
  write: Write<R>;
  input: InputOf<R>;
  /** What the button says. */
  words: string;
  /** The name of the button, where its words don't tell one row from another. */
  name?: string;
  /** What the toast says. */
  done: string;
  /** What the commands do: `send it again`. */
  command: string;
  commands: () => Commands;
}) {
  return (
    <span className="row nowrap">
      <Button
        small
        isDisabled={write.isPending}
        {...(name !== undefined && { 'aria-label': name })}
        onPress={() => write.mutate(input, { onSuccess: () => say(done) })}
      >
        {words}
      </Button>
      <AsCommand icon label={`As command: ${command}`} commands={commands} />
    </span>
  );
}
