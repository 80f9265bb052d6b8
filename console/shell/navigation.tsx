// The side navigation of a realm: groups of pages, with those alone that the reader may see.
import { Link, useLocation } from 'wouter';
import { type May, useMay } from '../api/session.ts';
import { allPages } from '../pages/all.ts';
import { type ConsolePage, type Group, groups } from '../pages/page.ts';
import { Icon } from '../ui/icons.tsx';
import { realmAddress } from './addresses.ts';
import { maySee } from './page-of-address.tsx';

const REALM = '/realms/:realm';
const ofRealm = ({ path }: ConsolePage) => path === REALM || path.startsWith(`${REALM}/`);

/** The realm of the address; undefined on pages of no realm. */
export function useRealm(): string | undefined {
  const [path] = useLocation();
  const [, first, realm] = path.split('/');
  return first === 'realms' && realm && realm !== 'new' ? decodeURIComponent(realm) : undefined;
}

export interface NavEntry {
  group: Group;
  title: string;
  to: string;
  icon: NonNullable<ConsolePage['nav']>['icon'];
}

/** The pages with a place in the navigation, in its order. */
export function navEntries(may: May, realm: string | undefined): NavEntry[] {
  const wanted = (realm === undefined ? allPages.filter((page) => !ofRealm(page)) : allPages.filter(ofRealm)).filter(
    (page) => page.nav && maySee(may, page, realm ?? ''),
  );
  return wanted
    .flatMap((page) => (page.nav ? [{ ...page.nav, page }] : []))
    .sort(
      (one, other) =>
        groups.indexOf(one.group) - groups.indexOf(other.group) || (one.order ?? 99) - (other.order ?? 99),
    )
    .map(({ group, icon, page }) => ({
      group,
      icon,
      title: page.title,
      to: realm === undefined ? page.path : page.path.replace(REALM, realmAddress(realm)),
    }));
}

export function Navigation({ onFollow }: { onFollow?: () => void }) {
  const may = useMay();
  const realm = useRealm();
  const [path] = useLocation();
  const entries = navEntries(may, realm);
  const home = realm === undefined ? undefined : realmAddress(realm);
  const isHere = (to: string) => path === to || (to !== home && path.startsWith(`${to}/`));
  const closest = entries.filter(({ to }) => isHere(to)).sort((one, other) => other.to.length - one.to.length)[0];
  return (
    <div className="nav">
      {groups.map((group) => {
        const own = entries.filter((entry) => entry.group === group);
        if (own.length === 0) return null;
        return (
          <div key={group}>
            <h2>{group}</h2>
            <ul>
              {own.map(({ to, title, icon }) => (
                <li key={to}>
                  <Link href={to} aria-current={to === closest?.to ? 'page' : undefined} onClick={() => onFollow?.()}>
                    <Icon name={icon} />
                    {title}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </div>
  );
}
