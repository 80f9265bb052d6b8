// Changes of one item of a client's authorization services. All items are stored as one object, so each change is a
// function of the whole. Pure.
import type { ItemList } from '../../../contract/authorization-services.ts';
import { Problem } from '../../../contract/problem.ts';
import { byName } from './canonical.ts';
import { type Services, usersOf } from './rules.ts';

export interface NamedItem {
  name: string;
}

/** @throws Problem `not-found` */
export function itemOf(services: Services, list: ItemList, name: string): NamedItem {
  const found = services[list].find((item) => item.name === name);
  if (!found) throw new Problem('not-found', `The client has nothing of the name ${name} among its ${list}`);
  return found;
}

const without = (services: Services, list: ItemList, name: string): NamedItem[] =>
  services[list].filter((item) => item.name !== name);

type Items = Partial<Record<ItemList, NamedItem[]>>;

/** The item's index in its list; -1: there is no such item. */
export const placeOf = (items: Items, list: ItemList, wanted: string): number =>
  (items[list] ?? []).findIndex(({ name }) => name === wanted);

/** @throws Problem `name-taken` */
export function withAddedItem(services: Services, list: ItemList, item: NamedItem): Items {
  if (services[list].some(({ name }) => name === item.name))
    throw new Problem('name-taken', `The name ${item.name} is taken among the ${list} of the client`);
  return { [list]: byName([...services[list], item]) };
}

/**
 * The change of one item; omitted fields keep their values. @throws Problem `not-found`, `invalid-request` for another
 * name
 */
export function withChangedItem(services: Services, list: ItemList, name: string, input: Partial<NamedItem>): Items {
  const before = itemOf(services, list, name);
  if (input.name !== undefined && input.name !== name)
    throw new Problem('invalid-request', undefined, {
      errors: [{ path: 'name', message: `must be ${name}, as in the path: other items refer to it by this name` }],
    });
  return { [list]: byName([...without(services, list, name), { ...before, ...input }]) };
}

/** @throws Problem `not-found`, `in-use` if other items of the client name it */
export function withoutItem(services: Services, list: ItemList, name: string): Items {
  itemOf(services, list, name);
  const users = usersOf(services, list, name);
  if (users.length > 0)
    throw new Problem(
      'in-use',
      `${name} is named by ${users.slice(0, 5).join(', ')}${users.length > 5 ? ' and others' : ''}`,
    );
  return { [list]: without(services, list, name) };
}

/** Runs the write of an item, and converts the item's faults to paths of the request. @throws Problem */
export async function toldOfItem<T>(list: ItemList, indexOf: () => number, write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof Problem) || !error.errors) throw error;
    const own = `${list}[${indexOf()}].`;
    const errors = error.errors.map((fault) =>
      fault.path.startsWith(own) ? { ...fault, path: fault.path.slice(own.length) } : fault,
    );
    throw new Problem(error.code, errors.map(({ path, message }) => `${path}: ${message}`).join('; '), {
      errors,
      cause: error,
    });
  }
}
