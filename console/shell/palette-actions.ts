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
  to: string;
  icon: IconName;
}

const LEAST = 2;
const MOST = 8;

function actionsOf(may: May, realm: string): PaletteEntry[] {
  const user = { id: 'create user', words: 'Create a user', to: inRealm(realm, 'users', 'new'), icon: 'user' } as const;
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
  const wanted = text.toLowerCase();
  const has = (...words: (string | undefined)[]) => words.join(' ').toLowerCase().includes(wanted);
  const isNamed = ({ name, label }: { name: string; label: string }) =>
    [name, label].some((one) => one.toLowerCase().includes(wanted));
  return [
    ['Actions', actionsOf(may, realm).filter(({ words, help }) => has(words, help))],
    [
      'Settings',
      (settings.data ?? [])
        .filter(({ name, label, help, group }) => has(name, label, help, group))
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
