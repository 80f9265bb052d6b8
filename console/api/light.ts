// A contract route without its schemas: what a call needs. Its types are the contract's own.
import type { Permission } from '../../server/contract/permissions.ts';
import type { Method, Route } from '../../server/contract/route.ts';

/** Anything that can be called: a route of server/contract, or one of generated/routes.ts. */
export interface Callable {
  method: Method;
  path: string;
  permission: Permission | null;
}

export interface LightRoute<R extends Route = Route> extends Callable {
  /** An administrator of single groups or clients may use it too. */
  reach?: true;
  /** It needs a sign-in of the last minutes. */
  fresh?: true;
  /** Never set; the compiler reads the types of a call from it. */
  readonly of?: R;
}

export const light = <R>(
  method: Method,
  path: string,
  permission: Permission | null,
  more: { reach?: true; fresh?: true } = {},
): LightRoute<R extends Route ? R : Route> => ({ method, path, permission, ...more });
