// The types of tokens that a token exchange names (RFC 8693 §3), and the `typ` of the tokens that other servers read.

export const ID_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:id_token';
export const REFRESH_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:refresh_token';
/** A JWT authorization grant for another domain: draft-ietf-oauth-identity-chaining §2.3. */
export const JWT_GRANT_TYPE = 'urn:ietf:params:oauth:token-type:jwt';
/** draft-ietf-oauth-identity-assertion-authz-grant §4.3. */
export const ID_JAG_TYPE = 'urn:ietf:params:oauth:token-type:id-jag';
/** Its profile of the JWT bearer grant, for discovery (§7.2). */
export const ID_JAG_PROFILE = 'urn:ietf:params:oauth:grant-profile:id-jag';
/** draft-ietf-oauth-transaction-tokens §7.1. */
export const TXN_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:txn_token';

/** The `typ` of an ID-JAG, of a JWT authorization grant, and of a transaction token. */
export const ID_JAG_TYP = 'oauth-id-jag+jwt';
export const JWT_GRANT_TYP = 'authorization-grant+jwt';
export const TXN_TOKEN_TYP = 'txntoken+jwt';

/** The longest life of a grant for another domain, and of a transaction token, in seconds. */
export const MOST_GRANT_SECONDS = 300;
