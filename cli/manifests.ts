// Owns: converting a realm document to the four kinds, ready for Git: the inverse of operator/kinds' `document`.
// Does not own: the manifests' text (manifest-text.ts), their names (manifest-names.ts).
// Implements: docs/cli.md: `export --as manifests`, with secretKeyRefs and a list of Secrets to create.
import type { z } from 'zod';
import { flow } from '../operator/kinds/flow.ts';
import type { Kind } from '../operator/kinds/kind.ts';
import { realm as realmKind } from '../operator/kinds/realm.ts';
import { webhook } from '../operator/kinds/webhook.ts';
import { workloadIdentity } from '../operator/kinds/workload-identity.ts';
import { API_VERSION, type KindName } from '../operator/resource.ts';
import { freshClientScopes } from '../server/contract/client-scopes.ts';
import { type ExecutionDocument, MAX_FLOW_DEPTH } from '../server/contract/flows.ts';
import { MASTER } from '../server/contract/realms.ts';
import type { SecretKeyRef } from '../server/contract/resources/custom-resource.ts';
import { realmFields } from '../server/contract/resources/realm.ts';
import { type Element, mapElements, referenceTo, type Section } from '../server/contract/section.ts';
import { givesAdminRoles, sections } from '../server/contract/sections.ts';
import type { RealmDocument } from '../server/contract/transfer.ts';
import { parseEventTypes } from '../server/contract/webhooks.ts';
import { objectName } from './manifest-names.ts';

export interface Manifest {
  apiVersion: string;
  kind: KindName;
  metadata: { name: string; namespace?: string };
  spec: unknown;
}

/** A Secret that must exist; no export contains its value. */
export interface SecretToCreate extends SecretKeyRef {
  /** `client billing`. */
  of: string;
  /** The environment variable that holds the value in the realm document. */
  placeholder: string | undefined;
}

export interface Manifests {
  items: Manifest[];
  secrets: SecretToCreate[];
  /** Notes for the users who apply the manifests. */
  notes: string[];
}

/** Custom resources can't express the document; `faults` names every reason. */
export class NoManifest extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`the realm does not fit into custom resources: ${faults.join('; ')}`);
    this.faults = faults;
  }
}

const PLACEHOLDER = /^\$\{(SVC_VAR_[A-Z0-9_]+)\}$/;
/** @throws NoManifest */
export function manifestsOf(
  realm: string,
  document: RealmDocument,
  { namespace }: { namespace?: string } = {},
): Manifests {
  const secrets: SecretToCreate[] = [];
  const faults: string[] = [];
  const items: Manifest[] = [];

  function add<Spec extends { realm: string }>(kind: Kind<Spec>, name: string, spec: object): void {
    // Parsing puts the fields in the schema's order, so that the order in the document doesn't matter.
    const parsed = kind.spec.safeParse(defined({ realm, ...spec }));
    faults.push(...(parsed.error?.issues ?? []).map((issue) => fault(kind.name, name, issue)));
    const metadata = { name, ...(namespace !== undefined && { namespace }) };
    if (parsed.success) items.push({ apiVersion: API_VERSION, kind: kind.name, metadata, spec: parsed.data });
  }
  function refTo({ label }: Section, key: string, field: string, value: unknown): SecretKeyRef | undefined {
    if (typeof value !== 'string') return undefined;
    const ref = { name: objectName(realm, label.replaceAll(' ', '-'), key), key: field };
    secrets.push({ ...ref, of: `${label} ${key}`, placeholder: PLACEHOLDER.exec(value)?.[1] });
    return ref;
  }
  /** A section's element in a resource's form, with references in place of its secrets. */
  function withReferences(section: Section, element: Element, key: string): Element {
    const out: Record<string, unknown> = { ...element };
    for (const field of section.secrets ?? []) {
      delete out[field];
      out[referenceTo(field)] = refTo(section, key, field, element[field]);
    }
    return out;
  }

  const { realm: settings, flows = [], webhooks = [], workloadIdentity: identities = [] } = document;
  const { realmId: _, browserFlow, ...rest } = settings ?? {};
  // A Flow binds itself: a Realm that names a missing flow would be refused.
  const bound = flows.some(({ alias }) => alias === browserFlow) ? browserFlow : undefined;
  const declared = { ...document, realm: { ...rest, ...(bound === undefined && { browserFlow }) } };
  const fields = [...realmFields].map(([field, { key, section }]) => {
    const value = unlessEmpty(Reflect.get(declared, key));
    const resource = section.secrets
      ? mapElements(section, value, (element, name) => withReferences(section, element, name))
      : value;
    return [field, resource];
  });
  add(realmKind, realm, Object.fromEntries(fields));
  for (const { alias, executions = [] } of flows)
    add(flow, objectName(realm, alias), {
      alias,
      executions: withContainers(executions, 1),
      bind: alias === bound ? true : undefined,
    });
  for (const { name, eventTypes, ...subscription } of webhooks)
    add(webhook, objectName(realm, name), {
      name,
      ...withReferences(sections.webhooks, subscription, name),
      eventTypes: eventTypes === undefined ? undefined : parseEventTypes(eventTypes),
    });
  for (const { scopes, adminAccess, singleUse, ...identity } of identities)
    add(workloadIdentity, objectName(realm, identity.name), {
      ...identity,
      singleUse: singleUse ?? undefined,
      // allowed is the default, so the manifest only says it if it is denied
      adminAccess: adminAccess === true ? undefined : adminAccess,
      scopes: scopes?.split(' ').filter((scope) => scope !== ''),
    });
  if (faults.length > 0) throw new NoManifest(faults);
  return { items, secrets, notes: notesOn(realm, document) };
}

/**
 * A container always gets `executions`, even an empty list: the Kubernetes API rejects an execution without step and
 * container.
 */
function withContainers(executions: readonly ExecutionDocument[], level: number): ExecutionDocument[] {
  return executions.map(({ executions: children, ...execution }) =>
    execution.authenticatorId !== undefined || level === MAX_FLOW_DEPTH
      ? execution
      : { ...execution, executions: withContainers(children ?? [], level + 1) },
  );
}

function notesOn(realm: string, document: RealmDocument): string[] {
  const { users, clientScopes } = document;
  const count = users?.length ?? 0;
  const lacking = freshClientScopes.filter((fresh) => clientScopes?.every(({ name }) => name !== fresh));
  return [
    `Users are run-time data, not configuration: ${count > 0 ? `${count} are left out` : 'they are left out'}.`,
    ...(realm === MASTER
      ? [`The realm ${MASTER} can be declared only in the operator's own namespace.`]
      : givesAdminRoles(document)
        ? ["The Realm gives admin roles, which it can only in the operator's own namespace."]
        : []),
    ...(lacking.length > 0
      ? [`A new realm has client scopes that this one lacks; delete them there: ${lacking.join(', ')}.`]
      : []),
  ];
}

const fault = (kind: KindName, name: string, { path, message }: z.core.$ZodIssue): string =>
  `${kind} ${name}, spec.${path.map(String).join('.')}: ${message}`;

const defined = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

function unlessEmpty<T>(value: T): T | undefined {
  if (typeof value !== 'object' || value === null) return value;
  return Object.values(value).some((one) => one !== undefined) ? value : undefined;
}
