// Small words beside a name: a state, a number, a name of something else.
import type { ReactNode } from 'react';

export function Badge({ tone, children }: { tone?: 'good' | 'warn' | 'bad' | 'info'; children: ReactNode }) {
  return <span className={tone ? `badge ${tone}` : 'badge'}>{children}</span>;
}

/** A list of short texts. @param most how many are shown before "and 3 more" */
export function Chips({ items, most = Number.POSITIVE_INFINITY }: { items: readonly string[]; most?: number }) {
  if (items.length === 0) return <span className="none">none</span>;
  const shown = items.slice(0, most);
  return (
    <span className="chips">
      {shown.map((item) => (
        <bdi key={item} className="chip">
          {item}
        </bdi>
      ))}
      {items.length > shown.length && <span className="soft small">and {items.length - shown.length} more</span>}
    </span>
  );
}
