// A question before one write of run-time data, with the same write for other tools. The toast comes even if the dialog was
// closed while the server was asked.
import type { AnyRoute, InputOf } from '../api/client.ts';
import { readAnew, useWrite } from '../api/queries.ts';
import { Confirm, type Question } from '../ui/confirm.tsx';
import { say } from '../ui/toast.tsx';
import { requestCommands } from './commands.ts';

export function ConfirmWrite<R extends AnyRoute>({
  route,
  input,
  realmctl,
  done,
  ...question
}: Question & {
  route: R;
  input: InputOf<R>;
  /** Where realmctl has a command for it; otherwise `realmctl api` makes the request. */
  realmctl?: string;
  /** What the toast says. */
  done: string;
}) {
  const write = useWrite(route, { onDone: () => say(done) });
  const { params, body, query } = Object(input);
  return (
    <Confirm
      {...question}
      busy={write.isPending}
      problem={write.error}
      commands={() => ({ ...requestCommands(route, params, body, query), ...(realmctl !== undefined && { realmctl }) })}
      onConfirm={() =>
        write.mutate(input, {
          onSuccess: question.onClose,
          // the next try is of the object as it is now
          onError: (problem) => {
            if (problem.is('precondition-failed')) void readAnew(params.realm);
          },
        })
      }
    />
  );
}
