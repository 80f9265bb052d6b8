// A realm's kinds of configuration, as `get` and `describe` show them: the most important fields are the first columns.
import {
  deleteAuthorizationService,
  getAuthorizationService,
  listAuthorizationServices,
  putAuthorizationService,
} from '../server/contract/authorization-service-routes.ts';
import { createFlow, deleteFlow, getFlow, listFlows, putFlow } from '../server/contract/flows.ts';
import { endHold, type HeldThing, listHolds } from '../server/contract/holds.ts';
import { deleteKey, listKeys } from '../server/contract/keys.ts';
import { createRealm, deleteRealm, getRealm, listRealms } from '../server/contract/realms.ts';
import { listManagers } from '../server/contract/transfer.ts';
import { list, party, time, yes } from './cells.ts';
import { type Kind, kind } from './kinds.ts';

const realms = kind({
  plural: 'realms',
  singular: 'realm',
  help: 'realms, with their revisions',
  inRealm: false,
  searches: true,
  routes: { list: listRealms, get: getRealm, create: createRealm, remove: deleteRealm },
  at: ({ realm }) => ({ realm }),
  nameOf: ({ realm }) => realm,
  columns: [
    { head: 'REALM', cell: ({ realm }) => realm },
    { head: 'NAME', cell: ({ displayName }) => displayName },
    { head: 'REVISION', cell: ({ revision }) => String(revision) },
  ],
});

const flows = kind({
  plural: 'flows',
  singular: 'flow',
  help: 'sign-in flows',
  inRealm: true,
  routes: { list: listFlows, get: getFlow, create: createFlow, put: putFlow, remove: deleteFlow },
  at: ({ alias }) => ({ alias }),
  nameOf: ({ alias }) => alias,
  columns: [
    { head: 'FLOW', cell: (f) => f.alias },
    { head: 'BUILT IN', cell: (f) => yes(f.builtIn) },
  ],
});

const keys = kind({
  plural: 'keys',
  singular: 'key',
  help: 'signing keys, the active one first',
  inRealm: true,
  routes: { list: listKeys, remove: deleteKey },
  at: ({ keyId }) => ({ keyId }),
  nameOf: ({ keyId }) => keyId,
  columns: [
    { head: 'KEY', cell: (k) => k.keyId },
    { head: 'STATUS', cell: (k) => k.status },
    { head: 'ALGORITHM', cell: (k) => k.algorithm },
    { head: 'CREATED', cell: (k) => time(k.createdAt) },
    { head: 'ROTATED', cell: (k) => time(k.rotatedAt) },
  ],
});

const authorizationServices = kind({
  plural: 'authorization-services',
  singular: 'authorization-service',
  help: 'what clients protect, and who may do what with it',
  inRealm: true,
  routes: {
    list: listAuthorizationServices,
    get: getAuthorizationService,
    put: putAuthorizationService,
    remove: deleteAuthorizationService,
  },
  at: ({ id }) => ({ clientId: id }),
  nameOf: ({ clientId }) => clientId,
  is: ({ clientId, id }, word) => clientId === word || id === word,
  columns: [
    { head: 'CLIENT', cell: (s) => s.clientId },
    { head: 'ENFORCEMENT', cell: (s) => s.enforcement },
    { head: 'RESOURCES', cell: (s) => String(s.resources) },
    { head: 'SCOPES', cell: (s) => String(s.scopes) },
    { head: 'POLICIES', cell: (s) => String(s.policies) },
    { head: 'PERMISSIONS', cell: (s) => String(s.permissions) },
    { head: 'ID', cell: (s) => s.id, wide: true },
  ],
});

const FEW = 5;
/** Names the objects if they are few, else counts each kind; `-o yaml` prints all names. */
function owned(objects: readonly { kind: string; key: string }[]): string {
  if (objects.length <= FEW) return list(objects.map(({ kind: of, key }) => `${of} ${key}`));
  const counts = new Map<string, number>();
  for (const { kind: of } of objects) counts.set(of, (counts.get(of) ?? 0) + 1);
  return list([...counts].map(([of, n]) => `${n} × ${of}`));
}

interface Owning {
  owns: number;
  users: boolean;
  hidden: boolean;
}
/** `12`, `3 + users`; `+ hidden`: more than the caller may read. */
export const ownsText = ({ owns, users, hidden }: Owning): string =>
  [String(owns), ...(users ? ['users'] : []), ...(hidden ? ['hidden'] : [])].join(' + ');

export const managers = kind({
  plural: 'managers',
  singular: 'manager',
  help: 'who keeps what as declared',
  inRealm: true,
  routes: { list: listManagers },
  nameOf: ({ manager }) => manager,
  joined: (m, next) => (m.manager === next.manager ? { ...m, owns: [...m.owns, ...next.owns] } : undefined),
  columns: [
    { head: 'MANAGER', cell: (m) => m.manager },
    { head: 'LAST APPLIED', cell: (m) => time(m.lastAppliedAt) },
    { head: 'OWNS', cell: (m) => ownsText({ ...m, owns: m.owns.length }) },
    { head: 'WHAT', cell: (m) => owned(m.owns), wide: true },
  ],
});

/** `client shop, settings requireMfa, every role` */
export const heldText = (what: readonly HeldThing[]): string =>
  list(what.map(({ kind: of, key }) => (key === undefined ? `every ${of}` : `${of} ${key}`)));

const holds = kind({
  plural: 'holds',
  singular: 'hold',
  help: 'what documents leave as it is for a while, and why',
  inRealm: true,
  routes: { list: listHolds, remove: endHold },
  nameOf: ({ id }) => id,
  columns: [
    { head: 'HOLD', cell: (h) => h.id },
    { head: 'HOLDS', cell: (h) => heldText(h.what) },
    { head: 'BY', cell: (h) => party(h.placedBy) },
    { head: 'UNTIL', cell: (h) => time(h.until) },
    { head: 'REASON', cell: (h) => h.reason },
    { head: 'SINCE', cell: (h) => time(h.placedAt), wide: true },
  ],
});

export const configurationKinds: readonly Kind[] = [realms, authorizationServices, flows, keys, managers, holds];
