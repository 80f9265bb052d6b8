// How far a longer work is. Screen readers read the number as it changes.
import { useId } from 'react';

/** @param all undefined: how much there is isn't known yet */
export function Progress({
  label,
  done,
  all,
  words,
}: {
  label: string;
  done: number;
  all: number | undefined;
  /** Instead of the numbers. */
  words?: string;
}) {
  const id = useId();
  const said = words ?? `${done.toLocaleString('en')}${all === undefined ? '' : ` of ${all.toLocaleString('en')}`}`;
  return (
    <div className="progress">
      <span className="row between">
        <span id={id}>{label}</span>
        <span className="soft" role="status">
          {said}
        </span>
      </span>
      <progress aria-labelledby={id} {...(all !== undefined && { value: done, max: Math.max(all, 1) })} />
    </div>
  );
}
