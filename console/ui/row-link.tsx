// The name of a row as a link, to be copied, dragged, or opened aside. The row itself opens by a press anywhere else and by Enter.
import type { KeyboardEvent, ReactNode, SyntheticEvent } from 'react';
import { Link } from 'wouter';

/** What happens on the link is no press of the row, which would go to the page a second time, or keep the link from opening a tab. */
const own = (event: SyntheticEvent) => event.stopPropagation();
const ownEnter = (event: KeyboardEvent) => {
  if (event.key === 'Enter') event.stopPropagation();
};

/** Tab goes past it, from the row to what follows the list; the right arrow leads to it. */
export const RowLink = ({ to, children }: { to: string; children: ReactNode }) => (
  // biome-ignore lint/a11y/noStaticElementInteractions: it does nothing by itself, and keeps events of the link from the row
  <span onPointerDown={own} onMouseDown={own} onClick={own} onKeyDown={ownEnter} onKeyUp={ownEnter}>
    <Link href={to} className="row-link" tabIndex={-1}>
      {children}
    </Link>
  </span>
);
