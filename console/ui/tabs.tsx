// Tabs whose choice is in the address (`?tab=`), so that a tab can be sent to a colleague. They are links: the browser's
// "back" and a new window work on them as on any link.
import type { ReactNode } from 'react';
import { Suspense } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { Loading } from './state.tsx';

export interface Tab {
  id: string;
  label: string;
  /** Called for the chosen tab alone. */
  content: () => ReactNode;
}

/** @param label of the tab bar, for screen readers @param tabs the first one is shown without `?tab=` */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const [path] = useLocation();
  const [params] = useSearchParams();
  const chosen = tabs.find(({ id }) => id === params.get('tab')) ?? tabs[0];
  return (
    <div className="tabs">
      <nav className="tab-list" aria-label={label}>
        {tabs.map(({ id, label: words }, at) => (
          <Link
            key={id}
            className="tab"
            href={at === 0 ? path : `${path}?${new URLSearchParams({ tab: id })}`}
            aria-current={id === chosen?.id ? 'page' : undefined}
          >
            {words}
          </Link>
        ))}
      </nav>
      <Suspense fallback={<Loading />}>{chosen?.content()}</Suspense>
    </div>
  );
}
