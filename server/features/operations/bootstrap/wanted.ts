// The clients of realmctl and the operator as every start wants them. service.ts creates them, settled.ts checks them.
import type { Identity } from './store.ts';

/** The client of `master` that the operator signs in as. */
export const OPERATOR = 'operator';
/**
 * The operator's client has the permissions that the operator needs and no more; an existing client is changed back to
 * this.
 */
export const OPERATOR_SHAPE = {
  enabled: true,
  grantTypes: ['client_credentials'],
  tokenEndpointAuthMethod: 'client_secret_basic',
  redirectUris: [],
  jwks: null,
  jwksUri: null,
};

export interface BootstrapOptions {
  administrator: {
    username: string;
    password: string | undefined;
    /** Whether the administrator must change a generated password at the first sign-in, since logs may store it. */
    generatedIsTemporary: boolean;
  };
  operator: { secret: string | undefined; identity: Identity | undefined };
}

/**
 * Whether realmctl's client needs no change: an administrator has changed its resources, or they are the admin API's
 * present name.
 */
export const isCliClientSettled = (allowedResources: readonly string[], adminAudience: string): boolean => {
  const [only = '', ...more] = allowedResources;
  return more.length > 0 || !only.endsWith('/admin') || only === adminAudience;
};
