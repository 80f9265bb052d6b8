// Two administrators changed the same object: what it was, what it is now, what this reader wants. Each field that both changed
// takes either side; a field that one alone changed is taken as that one has it. A field that a manager declares by now is taken as it
// is declared: its manager would set any other value back.
import { useState } from 'react';
import { Radio, RadioGroup } from 'react-aria-components/RadioGroup';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { MergeText } from '../ui/merge-text.tsx';
import { Note } from '../ui/state.tsx';
import type { Row } from './entry.ts';
import type { Field } from './fields.ts';
import { same } from './form.tsx';
import type { Managed } from './managed.tsx';
import { shortManager } from './managers.ts';
import { FromTo } from './plan-view.tsx';

type Side = 'mine' | 'theirs';
const text = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2);
const isLong = (...values: unknown[]): boolean =>
  values.some((value) => text(value).includes('\n') || text(value).length > 120);

export default function Merge({
  fields,
  base,
  mine,
  theirs,
  managed,
  onMerged,
  onCopy,
  onClose,
}: {
  fields: readonly Pick<Field, 'name' | 'label'>[];
  base: Row;
  /** The fields that this reader has edited. */
  mine: Row;
  theirs: Row;
  /** The fields that managers declare now, and that are not held. */
  managed?: Managed | undefined;
  /** @param edits what differs from `theirs` then */
  onMerged: (edits: Row) => void;
  /** Shows this reader's values as a declaration, for those that a manager declares by now. */
  onCopy?: () => void;
  onClose: () => void;
}) {
  const changedByThem = fields.filter(({ name }) => !same(base[name], theirs[name]));
  const changedByMe = fields.filter(
    ({ name }) => name in mine && mine[name] !== undefined && !same(mine[name], base[name]),
  );
  const differs = changedByMe.filter(({ name }) => !same(mine[name], theirs[name]));
  const declared = differs.filter(({ name }) => managed?.has(name));
  const both = differs.filter((field) => changedByThem.includes(field) && !declared.includes(field));
  const theirsAlone = changedByThem.filter((field) => !changedByMe.includes(field));
  const [chosen, setChosen] = useState<Readonly<Record<string, Side>>>({});
  const take = () => {
    const edits = differs.filter(
      (field) => !declared.includes(field) && (!both.includes(field) || (chosen[field.name] ?? 'mine') === 'mine'),
    );
    onMerged(Object.fromEntries(edits.map(({ name }) => [name, mine[name]])));
  };
  return (
    <Dialog
      title="Somebody else changed this meanwhile"
      isOpen
      alert
      onClose={onClose}
      size="widest"
      footer={
        <>
          {declared.length > 0 && onCopy && <Button onPress={onCopy}>Show mine as a declaration</Button>}
          <Button onPress={onClose}>Back to editing</Button>
          <Button variant="primary" onPress={take}>
            Go on with this
          </Button>
        </>
      }
    >
      {differs.length === 0 ? (
        <Note tone="good">The others saved the same values. Nothing is left to save.</Note>
      ) : both.length === 0 ? (
        declared.length < differs.length && (
          <Note tone="good">Your changes and the others touch different fields. Both can stay.</Note>
        )
      ) : (
        <p>
          Both of you changed {both.length === 1 ? 'this field' : 'these fields'}. Take either side of each; nothing is
          saved before you have seen the plan again.
        </p>
      )}
      <div className="merge">
        {both.map(({ name, label }) => (
          <div key={name} className="merge-field">
            <h3>{label}</h3>
            <RadioGroup
              aria-label={`Which ${label}`}
              className="sides"
              value={chosen[name] ?? 'mine'}
              onChange={(side) => setChosen({ ...chosen, [name]: side === 'theirs' ? 'theirs' : 'mine' })}
            >
              <Radio value="mine" className="side-choice">
                <Badge tone="info">yours</Badge>
                {isLong(mine[name]) ? (
                  <span className="soft">Shown below</span>
                ) : (
                  <bdi>{text(mine[name]) || 'not set'}</bdi>
                )}
              </Radio>
              <Radio value="theirs" className="side-choice">
                <Badge>as it is now</Badge>
                {isLong(theirs[name]) ? (
                  <span className="soft">Shown below</span>
                ) : (
                  <bdi>{text(theirs[name]) || 'not set'}</bdi>
                )}
              </Radio>
            </RadioGroup>
            <p className="hint">
              It was {isLong(base[name]) ? 'another text' : <bdi>{text(base[name]) || 'not set'}</bdi>} when you began.
            </p>
            {isLong(mine[name], theirs[name]) && (
              <MergeText label={label} mine={text(mine[name])} theirs={text(theirs[name])} base={text(base[name])} />
            )}
          </div>
        ))}
        {declared.map(({ name, label }) => (
          <div key={name} className="merge-field">
            <h3>{label}</h3>
            <Note tone="warn">
              <strong>
                Declared by <bdi>{shortManager(managed?.get(name) ?? '')}</bdi> meanwhile.
              </strong>
              <span>The declared value stays: its manager would set yours back. Change it there, or place a hold.</span>
            </Note>
            <FromTo from={mine[name] ?? null} to={theirs[name] ?? null} />
          </div>
        ))}
        {theirsAlone.map(({ name, label }) => (
          <div key={name} className="merge-field">
            <h3>{label}</h3>
            <p className="hint">Changed by somebody else alone, and kept.</p>
            <FromTo from={base[name] ?? null} to={theirs[name] ?? null} />
          </div>
        ))}
      </div>
    </Dialog>
  );
}
