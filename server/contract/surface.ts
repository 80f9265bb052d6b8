// Families of endpoints: each has one way of finding out who asks and one form of errors. A route says which principal it is
// for and on which surface; mounting, the permission check, the form of errors and OpenAPI follow (http/surface.ts).

/**
 * Who may call a route. `admin-session`: an administrator, though their session may have more to prove. `person`: for their own account, by session or token. `own-token`: whoever has the token that was
 * given out for this alone, as for a registered client. `device`: what a person approves with, by what it signs. `application`: a client with an access token of a person, for what the person signs. `resource-server`: a client, for itself or for a person, about what it protects. `anonymous`: anybody.
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

/** Where a principal's routes are, if they don't say. */
export const surfaceOf: Readonly<Partial<Record<Principal, SurfaceName>>> = {
  administrator: 'admin',
  'admin-session': 'admin',
  person: 'account',
  client: 'protocol',
  agent: 'agents',
  device: 'devices',
};

/** Who a route of OAuth's is for, whose parameters its RFC parses and whose schema documents alone; mounting checks it. */
export const servedTo = <P extends Principal>(principal: P, surface: SurfaceName = 'protocol') =>
  ({ served: { principal, surface } }) as const;
export type Served = ReturnType<typeof servedTo>['served'];
