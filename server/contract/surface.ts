// Families of endpoints: each has one way to authenticate the caller and one form of errors. A route names its kind of caller and its
// surface; mounting, the permission check, the form of errors and OpenAPI follow (http/surface.ts).

/**
 * The callers of a route.
 * `admin-session`: an administrator, even if their session lacks a factor. `person`: a user, for their own account, by session or token.
 * `own-token`: the holder of a token that was issued for this route only, such as a registration access token. `device`: a user's device
 * for approvals, by its signature. `application`: a client with a user's access token, for what the user signs. `resource-server`: a
 * client, for itself or for a user, about its protected resources. `anonymous`: any client.
 */
export type Principal =
  | 'administrator'
  | 'admin-session'
  | 'person'
  | 'client'
  | 'agent'
  | 'device'
  | 'application'
  | 'resource-server'
  | 'own-token'
  | 'anonymous';

/** RFC 9457, RFC 6749 §5.2, RFC 7644 §3.12. */
export type ErrorForm = 'problem' | 'oauth' | 'scim';

interface SurfaceKind {
  principals: readonly Principal[];
  errors: ErrorForm;
}
const kinds = {
  admin: { principals: ['administrator', 'admin-session', 'anonymous'], errors: 'problem' },
  account: { principals: ['person'], errors: 'problem' },
  agents: { principals: ['agent', 'own-token', 'anonymous'], errors: 'problem' },
  devices: { principals: ['device', 'application', 'own-token'], errors: 'problem' },
  scim: { principals: ['own-token', 'person'], errors: 'scim' },
  registration: { principals: ['own-token', 'anonymous'], errors: 'oauth' },
  protocol: { principals: ['client', 'person', 'resource-server', 'own-token', 'anonymous'], errors: 'oauth' },
} as const satisfies Record<string, SurfaceKind>;

export type SurfaceName = keyof typeof kinds;
export const surfaces: Readonly<Record<SurfaceName, SurfaceKind>> = kinds;

/** The surface of a principal's routes, if the routes name none. */
export const surfaceOf: Readonly<Partial<Record<Principal, SurfaceName>>> = {
  administrator: 'admin',
  'admin-session': 'admin',
  person: 'account',
  client: 'protocol',
  agent: 'agents',
  device: 'devices',
};

/**
 * The caller of an OAuth route. The handler parses the parameters as the RFC says; the schema only documents them. Mounting checks the
 * caller's kind.
 */
export const servedTo = <P extends Principal>(principal: P, surface: SurfaceName = 'protocol') =>
  ({ served: { principal, surface } }) as const;
export type Served = ReturnType<typeof servedTo>['served'];
