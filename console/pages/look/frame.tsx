// The three pages of look and texts, side by side.
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Permission } from '../../../server/contract/permissions.ts';
import { useMay } from '../../api/session.ts';
import { inRealm, realmAddress } from '../../shell/addresses.ts';
import { Page } from '../../ui/page.tsx';

const parts: readonly { id: string; label: string; permission: Permission }[] = [
  { id: '', label: 'Branding', permission: 'settings:read' },
  { id: 'texts', label: 'Texts of the pages', permission: 'message-texts:read' },
  { id: 'messages', label: 'Messages', permission: 'messaging:read' },
];

export const lookAddress = (realm: string, ...of: string[]): string =>
  inRealm(realm, 'look', ...of.filter((part) => part !== ''));

export function LookPage({
  realm,
  at,
  actions,
  children,
}: {
  realm: string;
  at: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const may = useMay();
  return (
    <Page
      title="Look and texts"
      lead="What people see and read as they sign in, and in their mail."
      crumbs={[{ label: realm, to: realmAddress(realm) }]}
      {...(actions !== undefined && { actions })}
    >
      <div className="tabs">
        <nav className="tab-list" aria-label="Look and texts">
          {parts
            .filter(({ permission }) => may(realm, permission))
            .map(({ id, label }) => (
              <Link
                key={id}
                className="tab"
                href={lookAddress(realm, id)}
                aria-current={id === at ? 'page' : undefined}
              >
                {label}
              </Link>
            ))}
        </nav>
        {children}
      </div>
    </Page>
  );
}
