// The effects of a plan on the realm's users and clients, as texts: of deleted objects, and of changed fields
// (effect-fields.ts). Pure; consequences.ts counts the users. Decisions "Import, export, plan".
import { splitClientRoleKey, strings } from '../../../resource/items.ts';
import type { PlannedChange } from '../../../resource/part.ts';
import * as fields from './effect-fields.ts';
import { otherSteps } from './effect-flows.ts';
import {
  changeEffect,
  type EffectWords,
  type FieldEffects,
  lockoutEffect,
  namesForMessage,
  namesRemoved,
} from './effect-words.ts';

/** The objects whose users an effect concerns; if none is named, all users of the realm. */
export interface Touched {
  clients?: readonly string[];
  /** By entity id. */
  samlClients?: readonly string[];
  /** Clients that have this scope. */
  scope?: string;
  /** Clients that have a scope with this claim. */
  claim?: string;
  /** Clients that may request this resource. */
  resource?: string;
  /** Clients that authenticate by this method, and for which the realm's setting decides. */
  authMethod?: string;
  /** Clients identified by the URL of their metadata document. */
  byDocument?: true;
  /** Clients whose users sign in by this flow. */
  flow?: string;
  /** Holders of this role, also through roles that contain it. */
  role?: { client: string | null; name: string };
  adminRole?: string;
  /** Users with an identity at the provider with this alias. */
  identityProvider?: string;
  directory?: string;
  /** Members of the group with this path, and of the groups below it. */
  group?: string;
  organization?: string;
  scimTarget?: string;
  /** Sessions that were begun with one of these authenticators. */
  authenticators?: readonly string[];
  everybody?: true;
}

export interface Effect extends EffectWords {
  kind: string;
  key: string;
  touched: Touched;
}

/** The effects of changed fields, without duplicates: several fields may have the same effect. */
function said(table: FieldEffects, change: PlannedChange): EffectWords[] {
  const all = change.fields.flatMap(({ path, from, to }) =>
    Object.hasOwn(table, path) ? (table[path]?.(from, to) ?? []) : [],
  );
  return [...new Map(all.map((one) => [one.message, one])).values()];
}

/** The effects of one change: `gone` for a deletion, those of its fields for an update; a new object has none. */
const changed = (table: FieldEffects, gone: EffectWords, change: PlannedChange): EffectWords[] =>
  change.action === 'delete' ? [gone] : change.action === 'update' ? said(table, change) : [];
const formerKey = ({ renamedFrom, key }: PlannedChange): string => renamedFrom ?? key;

const ofChannels: Readonly<Record<string, readonly string[]>> = {
  EMAIL: ['email-otp', 'magic-link'],
  SMS: ['sms-otp'],
  PUSH: ['push'],
};
const settingTouches: Readonly<Record<string, Touched>> = {
  clientAssertionAudience: { authMethod: 'private_key_jwt' },
  tlsClientAuthAuthorities: { authMethod: 'tls_client_auth' },
  clientIdMetadataDocuments: { byDocument: true },
  clientIdMetadataHosts: { byDocument: true },
  maxSmsPerHour: { authenticators: ofChannels.SMS ?? [] },
  maxEmailsPerHour: { authenticators: ofChannels.EMAIL ?? [] },
};

/** The effect of a deleted role, with the roles that it contained. */
function roleGone({ before }: PlannedChange): EffectWords {
  const parts = fields.containedRoles(before?.composite);
  return lockoutEffect(
    `is taken from all who hold it${parts.length > 0 ? `, and with it ${namesForMessage(parts)}` : ''}`,
  );
}

/**
 * The effects of a changed application. Its rules apply to its clients: also to clients that it gains, and to all of
 * them when it is created.
 */
function ofApplication(change: PlannedChange): EffectWords[] {
  const { action, before = {}, save } = change;
  if (action === 'delete')
    return typeof before.flowOverride === 'string' ? [changeEffect('goes: people sign in by the realm’s flow')] : [];
  const [had, has] = [before, save].map((one) => [...strings(one.clients), ...strings(one.samlClients)]);
  const come = namesRemoved(has ?? [], had ?? []);
  const roles = strings(save.roles);
  const rules = [
    ...(save.enabled === false ? [lockoutEffect(`nobody signs in to ${namesForMessage(come)} any more`)] : []),
    ...(roles.length > 0
      ? [lockoutEffect(`${namesForMessage(come)} is for those alone who hold ${namesForMessage(roles)}`)]
      : []),
    ...(typeof save.flowOverride === 'string'
      ? [changeEffect(`people sign in to ${namesForMessage(come)} by the flow ${save.flowOverride}`)]
      : []),
  ];
  return [...(action === 'update' ? said(fields.ofApplication, change) : []), ...(come.length > 0 ? rules : [])];
}

type OfKind = (change: PlannedChange) => { said: readonly EffectWords[]; touched: Touched };
const ofKinds: Readonly<Record<string, OfKind>> = {
  settings: (change) => ({
    said: change.fields.flatMap(({ from, to }) =>
      Object.hasOwn(fields.ofSettings, change.key) ? (fields.ofSettings[change.key]?.(from, to) ?? []) : [],
    ),
    touched: settingTouches[change.key] ?? { everybody: true },
  }),
  resourceIndicator: (change) => ({
    said: changed({}, lockoutEffect('no tokens are given for it any more'), change),
    touched: { resource: change.key },
  }),
  claim: (change) => ({
    said: changed(fields.ofClaim, changeEffect('goes from tokens and userinfo'), change),
    touched: { claim: formerKey(change) },
  }),
  clientScope: (change) => ({
    said: changed(fields.ofClientScope, changeEffect('goes from the tokens of clients that have it'), change),
    touched: { scope: formerKey(change) },
  }),
  role: (change) => ({
    said: changed(fields.ofRole, roleGone(change), change),
    touched: { role: { client: null, name: formerKey(change) } },
  }),
  clientRole: (change) => {
    const { clientId: client, role: name } = splitClientRoleKey(formerKey(change));
    return { said: changed(fields.ofRole, roleGone(change), change), touched: { role: { client, name } } };
  },
  flow: (change) => ({
    said: change.action === 'update' ? otherSteps(change) : [],
    touched: { flow: formerKey(change) },
  }),
  client: (change) => ({
    said: changed(fields.ofClient, lockoutEffect('goes, with all its tokens'), change),
    touched: { clients: [formerKey(change)] },
  }),
  protocolMapper: (change) => ({
    said: changed(fields.ofClaim, changeEffect('goes from tokens and userinfo'), change),
    touched: { clients: [splitClientRoleKey(formerKey(change)).clientId] },
  }),
  adminRole: (change) => ({
    said: changed(fields.ofAdminRole, lockoutEffect('is taken from all who hold it'), change),
    touched: { adminRole: formerKey(change) },
  }),
  serviceAccountRoles: (change) => ({
    said: changed(fields.ofServiceAccount, lockoutEffect('goes, with the roles of the service account'), change),
    touched: { clients: [formerKey(change)] },
  }),
  group: (change) => ({
    said: changed(fields.ofGroup, lockoutEffect('goes, with the roles that it gives'), change),
    touched: { group: formerKey(change) },
  }),
  identityProvider: (change) => ({
    said: changed(fields.ofIdentityProvider, lockoutEffect('goes: nobody signs in by it any more'), change),
    touched: { identityProvider: formerKey(change) },
  }),
  organization: (change) => ({
    said: changed(fields.ofOrganization, changeEffect('no claim names it, and its providers lead nowhere'), change),
    touched: { organization: formerKey(change) },
  }),
  samlClient: (change) => ({
    said: changed(fields.ofSamlClient, lockoutEffect('goes: nobody signs in to it any more'), change),
    touched: { samlClients: [formerKey(change)] },
  }),
  application: (change) => ({
    said: ofApplication(change),
    touched: {
      clients: [...strings(change.before?.clients), ...strings(change.save.clients)],
      samlClients: [...strings(change.before?.samlClients), ...strings(change.save.samlClients)],
    },
  }),
  authorizationService: (change) => ({
    said: changed(
      fields.ofAuthorizationService,
      lockoutEffect('decides nothing any more: who asks is refused'),
      change,
    ),
    touched: { clients: [formerKey(change)] },
  }),
  workloadIdentity: (change) => ({
    said: changed(
      fields.ofWorkloadIdentity,
      fields.withoutIdentity(change.before?.use, change.before?.clientId),
      change,
    ),
    touched: { clients: strings([change.before?.clientId]) },
  }),
  agent: (change) => ({
    // the client of an agent that isn't active gets no tokens
    said:
      change.action === 'create' && change.save.status !== 'active'
        ? [lockoutEffect('its client gets no tokens until it is active')]
        : changed(fields.ofAgent, lockoutEffect('goes, and its client is switched off'), change),
    touched: { clients: strings([change.before?.clientId ?? change.save.clientId]) },
  }),
  messagingProvider: (change) => ({
    said: changed(
      { enabled: (_, to) => (to === false ? [lockoutEffect(NO_MESSAGES)] : []) },
      lockoutEffect(`goes: ${NO_MESSAGES}`),
      change,
    ),
    touched: { authenticators: ofChannels[formerKey(change).split('/')[0] ?? ''] ?? [] },
  }),
  directory: (change) => ({
    said: changed(fields.ofDirectory, lockoutEffect('goes: its people’s passwords count no more'), change),
    touched: { directory: formerKey(change) },
  }),
  scimTarget: (change) => ({
    said: changed(fields.ofScimTarget, changeEffect('goes: its people are not provisioned there any more'), change),
    touched: { scimTarget: formerKey(change) },
  }),
};
const NO_MESSAGES = 'codes and links are not sent, unless another provider sends them';

/** The effects of a plan; those that lock users out come first. */
export const effectsOf = (planned: readonly PlannedChange[]): Effect[] =>
  planned
    .flatMap((change) => {
      const found = ofKinds[change.kind]?.(change);
      if (!found) return [];
      return found.said.map((one) => ({ kind: change.kind, key: change.key, ...one, touched: found.touched }));
    })
    .sort((one, other) => Number(other.locksOut) - Number(one.locksOut));
