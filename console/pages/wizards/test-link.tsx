// A link to a page of the realm, in a window of its own: the console stays where it is.
import type { ReactNode } from 'react';
import { Icon } from '../../ui/icons.tsx';

export function TestLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <a href={to} className="button" target="_blank" rel="noreferrer">
      <Icon name="idp" />
      {children}
      <span className="visually-hidden"> (a new window)</span>
    </a>
  );
}
