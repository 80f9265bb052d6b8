// The filters of the list of users as its address has them, and as the API has them.
import type { FilterChanges, Filters } from '../../ui/filters.ts';

export type UserState = 'enabled' | 'disabled' | 'locked';
export interface UserFilters {
  q: string;
  state: UserState | null;
  group: string;
  role: string;
  organization: string;
  attribute: string;
  value: string;
}

const isState = (text: string): text is UserState => text === 'enabled' || text === 'disabled' || text === 'locked';

export function filtersOf({ get }: Pick<Filters, 'get'>): UserFilters {
  const state = get('state');
  return {
    q: get('q'),
    state: isState(state) ? state : null,
    group: get('group'),
    role: get('role'),
    organization: get('organization'),
    attribute: get('attribute'),
    value: get('value'),
  };
}

/** The query of `GET …/users`. */
export function queryOf({
  q,
  state,
  group,
  role,
  organization,
  attribute,
  value,
}: UserFilters): Record<string, string> {
  return {
    ...(q !== '' && { q }),
    ...(state === 'enabled' && { enabled: 'true' }),
    ...(state === 'disabled' && { enabled: 'false' }),
    ...(state === 'locked' && { locked: 'true' }),
    ...(group !== '' && { group }),
    ...(role !== '' && { role }),
    ...(organization !== '' && { organization }),
    ...(attribute !== '' && value !== '' && { [`attribute.${attribute}`]: value }),
  };
}

export interface ActiveFilter {
  label: string;
  value: string;
  /** The change that removes it from the address. */
  without: FilterChanges;
}

/** The filters that are set, apart from the search text and the state, which have fields of their own. */
export function activeFilters({ group, role, organization, attribute, value }: UserFilters): ActiveFilter[] {
  const all: ActiveFilter[] = [
    { label: 'Group', value: group, without: { group: undefined } },
    { label: 'Role', value: role, without: { role: undefined } },
    { label: 'Organization', value: organization, without: { organization: undefined } },
    {
      label: attribute,
      value: attribute === '' ? '' : value,
      without: { attribute: undefined, value: undefined },
    },
  ];
  return all.filter((one) => one.value !== '');
}

export const isFiltered = (filters: UserFilters): boolean => Object.keys(queryOf(filters)).length > 0;
