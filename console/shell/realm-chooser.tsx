// Goes from realm to realm: pinned ones first, those of late, then all that match.
import { useState } from 'react';
import { Autocomplete } from 'react-aria-components/Autocomplete';
import { DialogTrigger } from 'react-aria-components/Dialog';
import { Header } from 'react-aria-components/Header';
import { Input } from 'react-aria-components/Input';
import { Menu, MenuItem, MenuSection } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { SearchField } from 'react-aria-components/SearchField';
import { Link } from 'wouter';
import { type RealmSummary, realmsMatching, realmsWith, useRealms } from '../api/realms.ts';
import { useMay } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { useLater } from '../ui/later.ts';
import { realmAddress } from './addresses.ts';
import { togglePinned, usePinnedRealms, useRecentRealms } from './kept-realms.ts';
import { useRealm } from './navigation.tsx';

const MOST_SHOWN = 50;

export function RealmChooser() {
  const [isOpen, setOpen] = useState(false);
  const realm = useRealm();
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <Button variant="quiet" className="realm" aria-label={realm === undefined ? 'Choose a realm' : `Realm ${realm}`}>
        <span>{realm ?? 'Choose a realm'}</span>
        <Icon name="chevron" size={14} />
      </Button>
      <Popover className="popover chooser" placement="bottom start" offset={4} aria-label="Realms">
        <Choices onChosen={() => setOpen(false)} />
      </Popover>
    </DialogTrigger>
  );
}

function Choices({ onChosen }: { onChosen: () => void }) {
  const [text, setText] = useState('');
  const now = useRealm();
  const may = useMay();
  const pinned = usePinnedRealms();
  const recent = useRecentRealms();
  const asked = useLater(text.trim());
  const realms = useRealms(asked);
  const isSettled = asked === text.trim() && !realms.isPlaceholderData;
  const all = isSettled ? (realms.data?.body ?? []) : realmsWith(realms.data?.body ?? [], text);
  const byName = new Map(all.map((one) => [one.realm, one]));
  const found = (names: readonly string[]) => names.flatMap((name) => byName.get(name) ?? []);
  const sections: [string, RealmSummary[]][] =
    text.trim() === ''
      ? [
          ['Pinned', found(pinned)],
          ['Recent', found(recent.filter((name) => !pinned.includes(name)))],
          [
            'All realms',
            all.filter(({ realm }) => !pinned.includes(realm) && !recent.includes(realm)).slice(0, MOST_SHOWN),
          ],
        ]
      : [['Realms', realmsMatching(all, text).slice(0, MOST_SHOWN)]];
  const shown = sections.filter(([, of]) => of.length > 0);
  return (
    <>
      <Autocomplete inputValue={text} onInputChange={setText}>
        <SearchField aria-label="Find a realm" className="search" autoFocus>
          <Icon name="search" />
          <Input className="input" placeholder="Find a realm" />
        </SearchField>
        <Menu
          className="menu"
          aria-label="Realms"
          onAction={onChosen}
          renderEmptyState={() => (
            <p className="hint">{realms.isPending ? 'Loading…' : 'No realm that you may see has this name.'}</p>
          )}
        >
          {shown.map(([title, of]) => (
            <MenuSection key={title}>
              <Header className="menu-heading">{title}</Header>
              {of.map(({ realm, displayName }) => (
                <MenuItem
                  key={realm}
                  id={`${title} ${realm}`}
                  textValue={`${realm} ${displayName}`}
                  className="menu-item"
                  href={realmAddress(realm)}
                >
                  <span>
                    <bdi>{realm}</bdi>
                    {displayName !== realm && <small dir="auto">{displayName}</small>}
                  </span>
                  {realm === now && (
                    <span className="end">
                      <Icon name="check" size={14} />
                    </span>
                  )}
                </MenuItem>
              ))}
            </MenuSection>
          ))}
        </Menu>
      </Autocomplete>
      <footer>
        <Link href="/realms" className="button quiet small" onClick={onChosen}>
          All realms
        </Link>
        {now !== undefined && (
          <Button variant="quiet" small icon="pin" onPress={() => togglePinned(now)}>
            {pinned.includes(now) ? 'Unpin' : 'Pin'} {now}
          </Button>
        )}
        {may.everywhere('realm:create') && (
          <Link href="/realms/new" className="button quiet small" onClick={onChosen}>
            Create a realm
          </Link>
        )}
      </footer>
    </>
  );
}
