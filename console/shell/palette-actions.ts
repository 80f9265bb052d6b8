// The palette's entries besides pages and objects: things that can be created or set up in the realm, and single settings.
import { useQuery } from '@tanstack/react-query';
import { type May, useMay } from '../api/session.ts';
import { placeOf } from '../kinds/all.ts';
import { allKinds } from '../kinds/known.ts';
import { isFormed, listParts } from '../kinds/pages.tsx';
import { wizards } from '../pages/wizards/wizards.ts';
import type { IconName } from '../ui/icons.tsx';
import { inRealm } from './addresses.ts';

export interface PaletteEntry {
  id: string;
  words: string;
  help?: string;
  /** Further words by which it is found. */
  found?: string;
  to: string;
  icon: IconName;
}

/** Whether each word of the text is in the others, in any order. */
export function hasWords(text: string, ...others: (string | undefined)[]): boolean {
  const all = others.join(' ').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

/** Found besides “create”. */
const CREATING = 'new add';
const LEAST = 2;
const MOST = 8;

function actionsOf(may: May, realm: string): PaletteEntry[] {
  const to = inRealm(realm, 'users', 'new');
  const user = { id: 'create user', words: 'Create a user', found: CREATING, to, icon: 'user' } as const;
  return [
    ...(may.partly(realm, 'users:write') ? [user] : []),
    ...wizards
      .filter(({ permissions }) => permissions.some((permission) => may(realm, permission)))
      .map(({ path, title, help, icon }) => ({
        id: `set-up ${path}`,
        words: title,
        help,
        to: inRealm(realm, 'set-up', path),
        icon,
      })),
    ...allKinds
      .filter((entry) => !entry.ofClient && isFormed(entry) && entry.write !== null && may(realm, entry.write))
      .map((entry) => ({
        id: `create ${entry.section}`,
        words: `Create ${entry.one}`,
        found: CREATING,
        to: inRealm(realm, ...listParts(entry), 'new'),
        icon: placeOf(entry).icon,
      })),
  ];
}

export function useActions(realm: string | undefined, text: string): [string, PaletteEntry[]][] {
  const may = useMay();
  const settings = useQuery({
    queryKey: ['palette', 'settings'],
    enabled: realm !== undefined && text.length >= LEAST && may(realm, 'settings:read'),
    queryFn: async () => (await import('../pages/settings/groups.ts')).settingNames(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (realm === undefined || text.length < LEAST) return [];
  const isNamed = ({ name, label }: { name: string; label: string }) =>
    [name, label].some((one) => hasWords(text, one));
  return [
    ['Actions', actionsOf(may, realm).filter(({ words, help, found }) => hasWords(text, words, help, found))],
    [
      'Settings',
      (settings.data ?? [])
        .filter(({ name, label, help, group }) => hasWords(text, name, label, help, group))
        // those of that name first
        .toSorted((one, other) => Number(isNamed(other)) - Number(isNamed(one)))
        .slice(0, MOST)
        .map(({ name, label, group, part }) => ({
          id: `setting ${name}`,
          words: label,
          help: `Settings, ${group}`,
          to: `${inRealm(realm, 'settings')}?${new URLSearchParams({ group: part, field: name })}`,
          icon: 'settings' as const,
        })),
    ],
  ];
}
