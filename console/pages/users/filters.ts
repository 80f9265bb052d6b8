// The filters of the list of users as its address has them, and as the API has them.
/** Changes of an address’s query; '' and undefined remove a name. */
export type Changes = Readonly<Record<string, string | undefined>>;

export type UserState = 'enabled' | 'disabled' | 'locked';
export interface Filters {
  q: string;
  state: UserState | null;
  group: string;
  role: string;
  organization: string;
  attribute: string;
  value: string;
}

const isState = (text: string | null): text is UserState =>
  text === 'enabled' || text === 'disabled' || text === 'locked';

export function filtersOf(search: URLSearchParams): Filters {
  const of = (name: string): string => search.get(name) ?? '';
  const state = search.get('state');
  return {
    q: of('q'),
    state: isState(state) ? state : null,
    group: of('group'),
    role: of('role'),
    organization: of('organization'),
    attribute: of('attribute'),
    value: of('value'),
  };
}

/** The query of `GET …/users`. */
export function queryOf({ q, state, group, role, organization, attribute, value }: Filters): Record<string, string> {
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
  /** What removes it from the address. */
  without: Changes;
}

/** The filters that are set, apart from the search text and the state, which have fields of their own. */
export function activeFilters({ group, role, organization, attribute, value }: Filters): ActiveFilter[] {
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

export const isFiltered = (filters: Filters): boolean => Object.keys(queryOf(filters)).length > 0;
