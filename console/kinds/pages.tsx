// The pages of every kind: list, create, detail, edit; of a kind that belongs to clients, below a client's.

import type { ConsolePage, PageProps } from '../pages/page.ts';
import { inRealm } from '../shell/addresses.ts';
import { kindInSection, navOf, titleOf } from './all.ts';
import type { KindEntry, Row } from './entry.ts';
import { allKinds } from './known.ts';

/** A kind whose list shows other objects than its routes keep can be neither created nor edited by a form here. */
const UNFORMED = new Set(['authorizationServices']);
export const isFormed = ({ section }: KindEntry): boolean => !UNFORMED.has(section);

/** The path of a kind's list below a realm's address, as parts. @param of the id of the client that the objects belong to */
export const listParts = (entry: KindEntry, of?: string): string[] =>
  entry.ofClient ? ['clients', of ?? '', entry.path] : [entry.path];
export const listAddress = (realm: string, entry: KindEntry, of?: string): string =>
  inRealm(realm, ...listParts(entry, of));

/** Between the parts of a natural key in an address: `EMAIL:smtp`. No part of such a key has one. */
export const PARTS = ':';

/** An object's name in addresses: what the API names it by. */
export const idOf = ({ at }: KindEntry, row: Row): string =>
  typeof at === 'string' ? String(row[at] ?? row.id ?? '') : at.map((part) => String(row[part] ?? '')).join(PARTS);
export const objectAddress = (realm: string, entry: KindEntry, row: Row, of?: string): string =>
  inRealm(realm, ...listParts(entry, of), idOf(entry, row));

/** The natural key as people know it: `shop`, `EMAIL / smtp`. */
export const nameOf = ({ key }: KindEntry, row: Row): string =>
  [key]
    .flat()
    .map((field) => String(row[field] ?? ''))
    .join(' / ');

export function pagesOf(entry: KindEntry): ConsolePage[] {
  const path = entry.ofClient ? `/realms/:realm/clients/:clientId/${entry.path}` : `/realms/:realm/${entry.path}`;
  const title = titleOf(entry);
  const nav = navOf(entry);
  const [read, write] = [entry.read ?? undefined, entry.write ?? undefined].map(
    (permission) => permission && { permission },
  );
  const seen = { ...read, ...(entry.reach && { partly: true as const }) };
  const list: ConsolePage = {
    path,
    title,
    ...seen,
    ...(nav && { nav }),
    load: async () => {
      const { KindList } = await import('./list.tsx');
      return { default: (props: PageProps) => <KindList entry={entry} {...props} /> };
    },
  };
  const detail: ConsolePage = {
    path: `${path}/:key`,
    title,
    ...seen,
    load: async () => {
      const { KindDetail } = await import('./detail.tsx');
      return { default: (props: PageProps) => <KindDetail entry={entry} {...props} /> };
    },
  };
  const create: ConsolePage = {
    path: `${path}/new`,
    title,
    ...write,
    load: async () => {
      const { CreatePage } = await import('./create.tsx');
      return { default: (props: PageProps) => <CreatePage entry={entry} {...props} /> };
    },
  };
  const edit: ConsolePage = {
    path: `${path}/:key/edit`,
    title,
    ...write,
    ...(entry.reach && { partly: true as const }),
    load: async () => {
      const { EditPage } = await import('./edit.tsx');
      return { default: (props: PageProps) => <EditPage entry={entry} {...props} /> };
    },
  };
  return isFormed(entry) ? [create, edit, list, detail] : [list, detail];
}

/** The pages of a kind, some of them with a component of their own. */
export function pagesWith(
  section: string,
  own: { list?: ConsolePage['load']; detail?: ConsolePage['load']; edit?: ConsolePage['load'] },
): readonly ConsolePage[] {
  const entry = kindInSection(section);
  if (!entry) return [];
  return pagesOf(entry).map((page) => {
    const load = page.path.endsWith('/:key/edit')
      ? own.edit
      : page.path.endsWith('/:key')
        ? own.detail
        : page.path.endsWith('/new')
          ? undefined
          : own.list;
    return load ? { ...page, load } : page;
  });
}

/** Pages below a client come first: `/clients/:clientId/roles` is no page of `/clients/:key`. */
export const kindPages: readonly ConsolePage[] = [...allKinds]
  .sort((one, other) => Number(other.ofClient ?? false) - Number(one.ofClient ?? false))
  .flatMap(pagesOf);

export const clientKinds: readonly KindEntry[] = allKinds.filter(({ ofClient }) => ofClient);
export const CLIENTS = kindInSection('clients');
