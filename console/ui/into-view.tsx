// An answer that appears below a pressed button. It scrolls into view, as the bar of a form's actions may stand over its place.
import { type ReactNode, useEffect, useRef } from 'react';

/** Give it a key that changes with each answer. */
export function IntoView({ children }: { children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // newer browsers return a promise, which React would take for the effect's clean-up
    box.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <div ref={box} className="stack">
      {children}
    </div>
  );
}
