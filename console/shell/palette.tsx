// The command palette: pages of this realm, other realms, objects of all of them, found on the server as the reader types, and what can
// be done.
import { useQueries } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Autocomplete } from 'react-aria-components/Autocomplete';
import { Dialog } from 'react-aria-components/Dialog';
import { Header } from 'react-aria-components/Header';
import { Input } from 'react-aria-components/Input';
import { Menu, MenuItem, MenuSection } from 'react-aria-components/Menu';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { SearchField } from 'react-aria-components/SearchField';
import { useLocation } from 'wouter';
import type { SearchKind } from '../../server/contract/search.ts';
import { call } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { realmsMatching, useRealms } from '../api/realms.ts';
import { useMay } from '../api/session.ts';
import { search } from '../generated/routes.ts';
import { kindOf, placeOf, titleOf } from '../kinds/all.ts';
import type { Row } from '../kinds/entry.ts';
import { allKinds } from '../kinds/known.ts';
import { kindNow } from '../kinds/loaded.ts';
import { nameOf, objectAddress } from '../kinds/pages.tsx';
import { Icon } from '../ui/icons.tsx';
import { useLater } from '../ui/later.ts';
import { inRealm, realmAddress } from './addresses.ts';
import { navEntries, useRealm } from './navigation.tsx';
import { type PaletteEntry as Entry, hasWords, useActions } from './palette-actions.ts';

const OF_EACH = 5;

/** The kinds that the search over all realms finds. */
const FOUND_ANYWHERE = ['user', 'client', 'group', 'role', 'organization'] as const satisfies readonly SearchKind[];
const isFoundAnywhere = (kind: string): boolean => FOUND_ANYWHERE.some((one) => one === kind);
const LONGEST = 255;

/** Objects of all realms that the reader may see, those of this realm first. */
function useHits(realm: string | undefined, text: string): [string, Entry[]][] {
  const query = { q: text.slice(0, LONGEST), kinds: FOUND_ANYWHERE.join(','), limit: OF_EACH };
  const enabled = text !== '';
  const here = useRead(search, { query: { ...query, realm } }, { enabled: enabled && realm !== undefined });
  const anywhere = useRead(search, { query }, { enabled });
  const hits = [
    ...(here.data?.body?.hits ?? []),
    ...(anywhere.data?.body?.hits ?? []).filter((hit) => hit.realm !== realm),
  ];
  return FOUND_ANYWHERE.map((kind): [string, Entry[]] => {
    const entry = kindOf(kind);
    // a role of a client is on a page below the client's, whose id the hit lacks
    const own = hits.filter((hit) => hit.kind === kind && !(kind === 'role' && hit.detail !== null));
    return [
      entry ? titleOf(entry) : 'Users',
      own.map(({ id, name, detail, realm: of }) => {
        const help = [detail !== name && detail, of !== realm && of].filter(Boolean).join(' · ');
        return {
          id: `${kind} ${of} ${id}`,
          words: name,
          ...(help !== '' && { help }),
          to: entry ? objectAddress(of, entry, { id }) : inRealm(of, 'users', id),
          icon: entry ? placeOf(entry).icon : 'user',
        };
      }),
    ];
  });
}

/** Objects of the other kinds in this realm, by the lists of those that the reader may see. */
function useListed(realm: string | undefined, text: string): [string, Entry[]][] {
  const may = useMay();
  const searched =
    realm === undefined || text.length < 2
      ? []
      : allKinds.filter(
          ({ kind, searches, ofClient, read }) =>
            searches && !ofClient && !isFoundAnywhere(kind) && may.partly(realm, read),
        );
  const found = useQueries({
    queries: searched.map((entry) => ({
      queryKey: [realm, 'palette', entry.section, text],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const { routes } = await kindNow(entry);
        const { body } = await call(routes.list, {
          params: { realm: realm ?? '' },
          query: { q: text, limit: OF_EACH },
          signal,
        });
        return body as Row[];
      },
    })),
  });
  if (realm === undefined) return [];
  return searched.map((entry, at): [string, Entry[]] => [
    titleOf(entry),
    (found[at]?.data ?? []).map((row) => ({
      id: `${entry.section} ${nameOf(entry, row)}`,
      words: nameOf(entry, row),
      to: objectAddress(realm, entry, row),
      icon: placeOf(entry).icon,
    })),
  ]);
}

function useEntries(text: string): [string, Entry[]][] {
  const may = useMay();
  const realm = useRealm();
  const realms = useRealms(text);
  const hits = useHits(realm, text);
  const listed = useListed(realm, text);
  const actions = useActions(realm, text);
  const pages = [...navEntries(may, realm), ...(realm === undefined ? [] : navEntries(may, undefined))]
    .filter(({ title, group }) => hasWords(text, title, group))
    .map(({ title, group, to, icon }) => ({ id: `page ${to}`, words: title, help: group, to, icon }));
  const others = (text === '' ? [] : realmsMatching(realms.data?.body ?? [], text).slice(0, OF_EACH)).map((one) => ({
    id: `realm ${one.realm}`,
    words: one.realm,
    ...(one.displayName !== one.realm && { help: one.displayName }),
    to: realmAddress(one.realm),
    icon: 'realm' as const,
  }));
  const all: [string, Entry[]][] = [['Pages', pages], ['Realms', others], ...hits, ...listed, ...actions];
  return all.filter(([, entries]) => entries.length > 0);
}

/** @param start the letters that were typed while this was loaded */
export default function Palette({ start, onClose }: { start: string; onClose: () => void }) {
  const [text, setText] = useState(start);
  const [, navigate] = useLocation();
  const asked = useLater(text.trim());
  const sections = useEntries(asked);
  /** Enter opens the first entry, once it is there, unless the arrow keys have marked one. */
  const [isSent, setIsSent] = useState(false);
  const first = asked === text.trim() ? sections[0]?.[1][0]?.to : undefined;
  useEffect(() => {
    if (!isSent || first === undefined) return;
    onClose();
    navigate(first);
  }, [isSent, first, onClose, navigate]);
  return (
    <ModalOverlay className="veil" isOpen isDismissable onOpenChange={(open) => !open && onClose()}>
      <Modal className="modal palette">
        <Dialog aria-label="Search">
          {/* a mark on the first entry would stay on it when the server's answer replaces it */}
          <Autocomplete
            inputValue={text}
            onInputChange={(typed) => {
              setIsSent(false);
              setText(typed);
            }}
            disableAutoFocusFirst
          >
            <SearchField
              className="search"
              aria-label="Search for pages, realms and objects"
              autoFocus
              // Escape empties a field first; the palette closes at once
              onClear={onClose}
              onSubmit={() => setIsSent(!document.activeElement?.hasAttribute('aria-activedescendant'))}
            >
              <Icon name="search" />
              <Input className="input" placeholder="Search for pages, realms, users, objects, settings…" />
            </SearchField>
            <Menu
              className="menu"
              aria-label="Found"
              onAction={onClose}
              renderEmptyState={() => <p className="hint">Nothing has this name here.</p>}
            >
              {sections.map(([title, entries]) => (
                <MenuSection key={title}>
                  <Header className="menu-heading">{title}</Header>
                  {entries.map(({ id, words, help, to, icon }) => (
                    <MenuItem key={id} id={id} textValue={words} href={to} className="menu-item">
                      <Icon name={icon} />
                      <bdi>{words}</bdi>
                      {help && <span className="end">{help}</span>}
                    </MenuItem>
                  ))}
                </MenuSection>
              ))}
            </Menu>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
