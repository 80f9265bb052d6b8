// The names of the realm document's sections: the kind of their objects, the permission's area, the audit events. This file doesn't
// import the sections' fields: permissions and events are made from these names, and fields from those.
// Decisions "Admin authentication", "Webhooks".
import { separateWords } from './apart.ts';
import { declaredNames } from './declared-names.ts';

interface Named {
  /** The name of one object in plans and managers' lists: `clientScope`. */
  kind: string;
  /** The area whose `:read` and `:write` permissions it needs; default: the section's name. */
  area?: string;
  /** The prefix of its events' names; default: the kind. null: the section's part names its events itself. */
  events?: string | null;
}

// permissions and event types are listed in this order; a declared kind without a place comes last
const {
  webhooks,
  workloadIdentity,
  roles,
  groups,
  clients,
  clientRoles,
  clientProtocolMappers,
  clientScopes,
  claims,
  messagingProviders,
  messageTemplates,
  identityProviders,
  applications,
  agents,
  organizations,
  samlClients,
  adminRoles,
  ...others
} = declaredNames;
const all = {
  realm: { kind: 'settings', area: 'settings', events: null },
  resourceIndicators: { kind: 'resourceIndicator', area: 'settings', events: null },
  userProfile: { kind: 'userProfile', area: 'settings', events: null },
  flows: { kind: 'flow' },
  webhooks,
  workloadIdentity,
  users: { kind: 'user', events: null },
  roles,
  groups,
  clients,
  clientScopes,
  claims,
  clientRoles: { ...clientRoles, events: 'role' },
  clientProtocolMappers,
  serviceAccountRoles: { kind: 'serviceAccountRoles', area: 'clients', events: null },
  authorizationServices: { kind: 'authorizationService', area: 'clients' },
  messagingProviders,
  messageTemplates,
  identityProviders,
  applications,
  agents,
  organizations,
  samlClients,
  adminRoles: { ...adminRoles, events: null },
  ...others,
  // an event's name has 32 characters at most (RFC 5424, MSGID)
  authorizationDetailTypes: { ...declaredNames.authorizationDetailTypes, events: 'authzDetailType' },
} as const satisfies Record<string, Named>;

type Names = typeof all;

/** `scimTarget` as `-scim-target`, for the types below. */
type Apart<Name extends string, By extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `${By}${Lowercase<First>}`}${Apart<Rest, By>}`
  : '';

type AreaOf<Key extends keyof Names> = Names[Key] extends { area: infer Area } ? Area : Apart<Key, '-'>;
type StemOf<Entry extends Named> = Entry extends { events: null }
  ? never
  : Uppercase<Apart<Entry extends { events: infer Stem extends string } ? Stem : Entry['kind'], '_'>>;
/** Events of objects that are created, updated and deleted in a section. */
export type SectionEvent = `${StemOf<Names[keyof Names]>}_${'CREATED' | 'UPDATED' | 'DELETED'}`;
export type SectionArea = { [Key in keyof Names]: AreaOf<Key> }[keyof Names];

const entries = Object.entries<Named>(all);

/** The names in each entry of the table of sections. */
export const sectionNames = Object.fromEntries(
  entries.map(([section, { kind, area = separateWords(section, '-') }]) => [section, { kind, area }]),
) as { readonly [Key in keyof Names]: { readonly kind: Names[Key]['kind']; readonly area: AreaOf<Key> } };

/** The audit event of each action, by section. */
export const sectionEvents = new Map(
  entries.flatMap(([section, { kind, events = kind }]) => {
    if (events === null) return [];
    const stem = separateWords(events, '_').toUpperCase();
    const all = { create: `${stem}_CREATED`, update: `${stem}_UPDATED`, delete: `${stem}_DELETED` };
    return [[section, all as Record<keyof typeof all, SectionEvent>] as const];
  }),
);
