// Places a hold: for a while no document changes the things that it names, so that an administrator can edit them here.

import { type FormEvent, useId, useState } from 'react';
import { DAY_MS, HOUR_MS } from '../../server/contract/durations.ts';
import { useWrite } from '../api/queries.ts';
import { placeHold } from '../generated/routes.ts';
import { AsCommand } from '../ui/as-command.tsx';
import { Button } from '../ui/button.tsx';
import { Checkbox } from '../ui/choices.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FieldSet, Select, TextField } from '../ui/fields.tsx';
import { ProblemNote } from '../ui/state.tsx';
import { ago } from '../ui/time.tsx';
import { say } from '../ui/toast.tsx';
import { curlOf } from './commands.ts';
import type { Holdable } from './managed.tsx';
import { faultsOf } from './plan.ts';
import { option, realmctl, word } from './shell-words.ts';
import { inSentence, labelOf } from './words.ts';

const MINUTE_MS = 60_000;
/** A minute less than seven days: the clocks of the browser and of the server may differ. */
const lengths = [
  { id: '1h', label: '1 hour', ms: HOUR_MS },
  { id: '4h', label: '4 hours', ms: 4 * HOUR_MS },
  { id: '1d', label: '1 day', ms: DAY_MS },
  { id: '3d', label: '3 days', ms: 3 * DAY_MS },
  { id: '7d', label: '7 days', ms: 7 * DAY_MS - MINUTE_MS },
] as const;

const idOf = ({ kind, key }: { kind: string; key?: string }) => `${kind} ${key ?? ''}`;
const namesOf = (things: readonly { key?: string }[]): string => things.map(({ key }) => key ?? 'all').join(', ');

/**
 * @param things what can be held; a key left out is all of the kind
 * @param isFirst the first thing alone is chosen to begin with; default: all
 */
export function HoldDialog({
  realm,
  things,
  isFirst = false,
  onClose,
}: {
  realm: string;
  things: readonly (Omit<Holdable, 'key'> & { key?: string })[];
  isFirst?: boolean;
  onClose: () => void;
}) {
  const form = useId();
  const place = useWrite(placeHold);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    new Set(things.slice(0, isFirst ? 1 : undefined).map(idOf)),
  );
  const [reason, setReason] = useState('');
  const [length, setLength] = useState<string>('4h');
  const [isTried, setTried] = useState(false);
  const what = things.filter((thing) => chosen.has(idOf(thing)));
  const ms = lengths.find(({ id }) => id === length)?.ms ?? HOUR_MS;
  const faults = faultsOf(place.error);
  const body = () => ({
    what,
    reason: reason.trim(),
    until: Date.now() + ms,
  });
  const isReady = reason.trim() !== '' && what.length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // React passes it on to the form of the page, which opened the dialog
    event.stopPropagation();
    setTried(true);
    if (!isReady) return;
    const asked = body();
    place.mutate(
      { params: { realm }, body: asked },
      {
        onSuccess: () => {
          say(`Placed a hold on ${namesOf(what)}. It ends ${ago(asked.until)}.`);
          onClose();
        },
      },
    );
  };
  const [first] = what;
  return (
    <Dialog
      title="Place a hold"
      isOpen
      onClose={onClose}
      footer={
        <>
          <AsCommand
            quiet
            commands={() => ({
              ...(first && {
                realmctl: realmctl(
                  `hold ${word(separated(first.kind))}`,
                  what.flatMap(({ key }) => key ?? []),
                  ...(what.some(({ key }) => key === undefined) ? ['--all'] : []),
                  `-r ${word(realm)}`,
                  option('--reason', reason || 'why'),
                  `--for ${length}`,
                ),
              }),
              curl: curlOf(placeHold, { realm }, body()),
            })}
          />
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" form={form} variant="primary" isDisabled={place.isPending}>
            {place.isPending ? 'Placing…' : 'Place the hold'}
          </Button>
        </>
      }
    >
      <form id={form} className="stack" onSubmit={submit} noValidate>
        <p className="soft">
          While the hold stands, no document changes what it names. The declared state returns when it ends. All
          administrators and the status of the resource see it.
        </p>
        {place.error && <ProblemNote problem={place.error} quietFields />}
        {things.length > 1 && (
          <FieldSet
            label="What is held"
            fault={isTried && what.length === 0 ? 'choose one at least' : faults.get('what')}
          >
            <div className={things.length > 8 ? 'columns' : 'items'}>
              {things.map((thing) => (
                <Checkbox
                  key={idOf(thing)}
                  label={thing.key ?? `All: ${inSentence(labelOf(thing.kind))}`}
                  isSelected={chosen.has(idOf(thing))}
                  onChange={(on) => {
                    const next = new Set(chosen);
                    if (on) next.add(idOf(thing));
                    else next.delete(idOf(thing));
                    setChosen(next);
                  }}
                />
              ))}
            </div>
          </FieldSet>
        )}
        <TextField
          label="Reason"
          help="For those who see the difference in the status of the resource, such as a ticket."
          value={reason}
          onChange={setReason}
          required
          autoFocus
          most={500}
          fault={isTried && reason.trim() === '' ? 'is needed' : faults.get('reason')}
        />
        <Select
          label="For how long"
          options={lengths.map(({ id, label }) => ({ id, label }))}
          value={length}
          onChange={(id) => setLength(id ?? '4h')}
          fault={faults.get('until')}
        />
      </form>
    </Dialog>
  );
}

/** `clientRole` → `client-role`, as `realmctl` names it. */
const separated = (kind: string): string => kind.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
