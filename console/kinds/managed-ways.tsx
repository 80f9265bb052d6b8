// The ways on for a reader whose fields a manager declares: copy them as a manifest, edit the form and take the result away
// without saving, or place a hold and edit them here for a while.
import { useState } from 'react';
import type { Permission } from '../../server/contract/permissions.ts';
import { useWrite } from '../api/queries.ts';
import { useMay } from '../api/session.ts';
import { endHold } from '../generated/routes.ts';
import { AsCommand, type Commands } from '../ui/as-command.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Note, ProblemNote } from '../ui/state.tsx';
import { Time } from '../ui/time.tsx';
import { say } from '../ui/toast.tsx';
import { writeOf } from './all.ts';
import { endCommands } from './commands.ts';
import { HoldDialog } from './hold-dialog.tsx';
import { fieldsOf, type Hold, type Holdable, type Managed } from './managed.tsx';
import { shortManager } from './managers.ts';

/** In an address: the form is edited to take the result away; nothing is saved. */
export const COPY_MODE = { name: 'mode', value: 'copy' } as const;

export function HeldBadge({ hold }: { hold: Hold }) {
  return (
    <Badge tone="warn">
      held, ends <Time ms={hold.until} />
    </Badge>
  );
}

export function ManagedWays({
  realm,
  managed,
  things,
  write,
  hold,
  isCopy,
  onMode,
  commands,
  declaredOnly,
}: {
  realm: string;
  managed: Managed;
  /** The things that a hold would name. */
  things: readonly Holdable[];
  /** The permission to change it, which a hold needs too. */
  write: Permission | null;
  hold: Hold | undefined;
  isCopy: boolean;
  onMode: (isCopy: boolean) => void;
  commands: () => Commands | Promise<Commands>;
  /** What only documents change, by the realm's setting: `clients`, `the settings`. */
  declaredOnly?: string | undefined;
}) {
  const managers = [...new Set(managed.values())].filter(Boolean).map(shortManager).join(', ');
  const count = fieldsOf(managed).length;
  if (isCopy)
    return (
      <Note>
        <strong>Nothing is saved here.</strong>
        <span>
          Edit the form; its last step shows the declaration with your changes, to be copied to where it is declared.
        </span>
        <span>
          <Button small onPress={() => onMode(false)}>
            {declaredOnly === undefined ? 'Edit what is not declared instead' : 'Back'}
          </Button>
        </span>
      </Note>
    );
  return (
    <Note tone={hold ? 'warn' : 'info'}>
      {hold ? (
        <HeldWords hold={hold} realm={realm} />
      ) : declaredOnly !== undefined ? (
        <>
          <strong>Only documents change {declaredOnly} of this realm.</strong>
          <span>
            {managers === '' ? 'No manager declares this yet.' : `${managers} declares it.`} Take your change to where
            it is declared, or place a hold to edit it here for a while.
          </span>
        </>
      ) : (
        <>
          <strong>
            Declared by <bdi>{managers}</bdi>
            {count > 0 && `: ${count === 1 ? 'one field' : `${count} fields`}`}.
          </strong>
          <span>
            {count === 0
              ? 'The declaration names the object alone, and none of its fields: they are edited as ever. If the object is deleted here, it returns.'
              : `${count === 1 ? 'It is' : 'They are'} read-only here, because the declared value returns. The other fields are edited as ever.`}
          </span>
        </>
      )}
      <span className="row">
        <AsCommand commands={commands} start="manifest" label="Copy as manifest" small />
        <Button small icon="edit" onPress={() => onMode(true)}>
          Modify and copy
        </Button>
        {!hold && <HoldButton realm={realm} things={things} write={write} />}
      </span>
    </Note>
  );
}

/** Opens the dialog that places a hold, for an administrator who may. */
export function HoldButton({
  realm,
  things,
  write,
}: {
  realm: string;
  things: readonly Holdable[];
  /** The permission to change them. */
  write: Permission | null;
}) {
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  if (!may(realm, 'holds:write') || !may(realm, write)) return null;
  return (
    <>
      <Button small icon="pin" onPress={() => setOpen(true)}>
        Hold…
      </Button>
      {isOpen && <HoldDialog realm={realm} things={things} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Who holds a thing, why and until when; the way to end the hold. */
export function HeldNote({ hold, realm, isManaged }: { hold: Hold; realm: string; isManaged: boolean }) {
  return (
    <Note tone="warn">
      <HeldWords hold={hold} realm={realm} isManaged={isManaged} />
    </Note>
  );
}

function HeldWords({ hold, realm, isManaged = true }: { hold: Hold; realm: string; isManaged?: boolean }) {
  const may = useMay();
  // this note is gone when the page has been read anew
  const end = useWrite(endHold, { onDone: () => say('Ended the hold. The declared state returns.') });
  return (
    <>
      <strong>
        A hold keeps this as it is; it ends <Time ms={hold.until} />.
      </strong>
      <span>
        <bdi>{hold.placedBy?.name ?? 'An erased user'}</bdi>: <bdi>{hold.reason}</bdi>
      </span>
      <span>
        {isManaged
          ? 'Edit it here. When the hold ends, the declared state returns; if its declaration was removed by then, it is deleted then.'
          : 'No manager declares it any more. Edit it here; no document changes it before the hold ends.'}
      </span>
      {end.error && <ProblemNote problem={end.error} />}
      {may(realm, 'holds:write') && hold.what.every(({ kind }) => may(realm, writeOf(kind))) && (
        <span className="row">
          <Button small isDisabled={end.isPending} onPress={() => end.mutate({ params: { realm, id: hold.id } })}>
            End the hold
          </Button>
          <AsCommand icon label="As command: end the hold" commands={() => endCommands(realm, hold.id)} />
        </span>
      )}
    </>
  );
}
