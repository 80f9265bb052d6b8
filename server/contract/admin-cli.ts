// The names by which tokens refer to the admin API, without the rest of its contract (admin-access.ts).

/** The public client of `realmctl`: the only client that may act at the admin API for a user. */
export const ADMIN_CLI = 'realmctl';

/** The claim is `true` in an access token whose client requested the admin API by `resource`, and was allowed to. */
export const ADMIN_API_CLAIM = 'admin_api';
