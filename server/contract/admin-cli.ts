// The names by which tokens refer to the admin API, without the rest of its contract (admin-access.ts).

/** The public client that a person's `realmctl` signs in as: the only one that may act at the admin API for a person. */
export const ADMIN_CLI = 'realmctl';

/** The claim `true` of an access token whose client asked for the admin API by `resource`, and was allowed to. */
export const ADMIN_API_CLAIM = 'admin_api';
