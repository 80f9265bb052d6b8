// Where each kind has its place in the navigation.
import type { Permission } from '../../server/contract/permissions.ts';
import type { Group } from '../pages/page.ts';
import type { IconName } from '../ui/icons.tsx';
import type { KindEntry } from './entry.ts';
import { allKinds } from './known.ts';
import { labelOf, sectionTitle } from './words.ts';

export const kindOf = (kind: string): KindEntry | undefined => allKinds.find((entry) => entry.kind === kind);
export const kindInSection = (section: string): KindEntry | undefined =>
  allKinds.find((entry) => entry.section === section);

/** The permission to change objects of a kind, also of those that have no pages of their own. A hold on them needs it, and its end. */
export const writeOf = (kind: string): Permission | null =>
  kindOf(kind)?.write ?? (kind === 'serviceAccountRoles' ? 'clients:write' : 'settings:write');

type Place = { group: Group; icon: IconName; order: number };
/** A kind without a place comes last. */
const places: Readonly<Record<string, Place>> = {
  groups: { group: 'People', icon: 'group', order: 20 },
  organizations: { group: 'People', icon: 'org', order: 30 },
  roles: { group: 'People', icon: 'role', order: 40 },
  agents: { group: 'People', icon: 'agents', order: 50 },
  clients: { group: 'Applications', icon: 'client', order: 10 },
  samlClients: { group: 'Applications', icon: 'client', order: 20 },
  applications: { group: 'Applications', icon: 'apps', order: 30 },
  clientScopes: { group: 'Applications', icon: 'key', order: 40 },
  claims: { group: 'Applications', icon: 'text', order: 50 },
  authorizationDetailTypes: { group: 'Applications', icon: 'key', order: 70 },
  flows: { group: 'Signing in', icon: 'flow', order: 10 },
  identityProviders: { group: 'Signing in', icon: 'idp', order: 20 },
  userFederation: { group: 'Signing in', icon: 'org', order: 30 },
  captchas: { group: 'Signing in', icon: 'check', order: 40 },
  messagingProviders: { group: 'Messages and texts', icon: 'mail', order: 10 },
  messageTemplates: { group: 'Messages and texts', icon: 'text', order: 20 },
  messageTexts: { group: 'Messages and texts', icon: 'text', order: 30 },
  webhooks: { group: 'Integrations', icon: 'webhook', order: 10 },
  scimTargets: { group: 'Integrations', icon: 'plug', order: 20 },
  workloadIdentity: { group: 'Integrations', icon: 'key', order: 30 },
  signalReceivers: { group: 'Integrations', icon: 'events', order: 40 },
  signalTransmitters: { group: 'Integrations', icon: 'events', order: 50 },
  crossDomainPolicies: { group: 'Integrations', icon: 'plug', order: 60 },
  crossDomainTrusts: { group: 'Integrations', icon: 'plug', order: 70 },
  transactionTokenPolicies: { group: 'Integrations', icon: 'key', order: 80 },
  authorizationServices: { group: 'Applications', icon: 'role', order: 60 },
  adminRoles: { group: 'Administration', icon: 'key', order: 10 },
};
export const placeOf = ({ section }: KindEntry): Place => places[section] ?? { group: 'More', icon: 'apps', order: 10 };

/** Kinds that have a page of their own under "Look and texts"; it leads to their lists. */
const ELSEWHERE = new Set(['messageTemplates', 'messageTexts']);
export const navOf = (entry: KindEntry): Place | undefined =>
  entry.ofClient || ELSEWHERE.has(entry.section) ? undefined : placeOf(entry);

/** The purpose of the kind, in a sentence. */
export const leadOf = ({ form, description }: KindEntry): string => `${form?.lead ?? description}.`;

export const titleOf = ({ section }: KindEntry): string => sectionTitle(section);

/** A section of the realm document, as the navigation names it: `Clients`, `Settings`; `*` is all of them. */
export const sectionLabel = (section: string): string =>
  section === '*' ? 'All configuration' : section === 'realm' ? 'Settings' : sectionTitle(section);

/** The words for the objects of a client on its own page: `Roles`, `a role`, `roles`. */
export function ofItsClient({ section, one, many }: KindEntry): { title: string; one: string; many: string } {
  const short = (words: string) => words.replace(/ of (a client|clients)$/, '');
  return { title: labelOf(section.replace(/^client(?=[A-Z])/, '')), one: short(one), many: short(many) };
}
