// How every start wants the clients of realmctl and the operator: service.ts makes them so, settled.ts finds whether they are.
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

/** Whether the client of realmctl is as an administrator has left it, or names the admin API as it is called now. */
export const isCliClientSettled = (allowedResources: readonly string[], adminAudience: string): boolean => {
  const [only = '', ...more] = allowedResources;
  return more.length > 0 || !only.endsWith('/admin') || only === adminAudience;
};
