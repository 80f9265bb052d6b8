// The interface that each kind implements for the reconciler: pure functions. A kind never talks to Kubernetes or the server.
// Design "Reconciler".
import type { z } from 'zod';
import type { SecretKeyRef, SecretOutput } from '../../server/contract/resources/custom-resource.ts';
import type { RealmDocument } from '../../server/contract/transfer.ts';
import type { KindName, Metadata } from '../resource.ts';

/** A value in another object of the resource's own namespace: a Secret, unless `in` names another kind. */
export interface ValueRef extends SecretKeyRef {
  in?: 'ConfigMap' | undefined;
  /** Set for values that are no secrets and may also be in the resource itself; json is parsed. */
  form?: 'text' | 'json' | undefined;
}

/** Values of Secrets and ConfigMaps by {@link secretName}, in the resource's own namespace. */
export type Secrets = ReadonlyMap<string, string>;
/** `portal`, or `ConfigMap brand`: no Secret's name contains a space. */
export const objectName = ({ name, in: kind }: Pick<ValueRef, 'name' | 'in'>): string =>
  kind === undefined ? name : `${kind} ${name}`;
export const secretName = (ref: ValueRef): string => `${objectName(ref)}/${ref.key}`;

/** The values that `document` reads in addition to the resource's spec. */
export interface Context {
  metadata: Pick<Metadata, 'name' | 'namespace'>;
  secrets: Secrets;
  /** The issuer of this cluster's ServiceAccount tokens, if it is known. */
  clusterIssuer: string | undefined;
  /** The resource is in another namespace than its Realm, so it can't act as an administrator. */
  guest?: boolean;
}

/** A client whose credentials go into a Secret. */
export interface ClientOutput extends SecretOutput {
  clientId: string;
  /** Whether the client authenticates by a secret. */
  confidential: boolean;
}
/** The keys of such a Secret that hold the client's id and its secret. */
export const CLIENT_ID = 'client-id';
export const CLIENT_SECRET = 'client-secret';

export interface Kind<Spec extends { realm: string }> {
  name: KindName;
  spec: z.ZodType<Spec>;
  /** The policy that applies if the spec sets no `deletionPolicy`. */
  deletionPolicy: 'Retain' | 'Delete';
  /** false: the resource is the realm itself; true: an object in a realm that a Realm resource declares. */
  attached: boolean;
  /** The kind grants no access, so a new resource of it locks no user out: it is applied without a previous plan. */
  letsNobodyIn?: true;
  secrets(spec: Spec): ValueRef[];
  /** The Secrets that the resource has created for it. */
  outputs?(spec: Spec): ClientOutput[];
  document(spec: Spec, context: Context): RealmDocument;
  /** Whether the document would grant admin roles: only resources in the operator's own namespace may. */
  givesAdminRoles?(spec: Spec): boolean;
  /** The client as which the object lets others act. */
  actsAs?(spec: Spec): string;
  /** The kind's own status fields; they change only when the spec or the server does. */
  status(spec: Spec, context: Pick<Context, 'metadata' | 'clusterIssuer'>): Record<string, unknown>;
}

/** A kind for code that handles all kinds alike; it passes a spec that the kind's schema has parsed. */
export type AnyKind = Kind<{ realm: string }>;

/** The spec can't become a document; the message is for the resource's condition. */
export class Unusable extends Error {
  /** The missing information, if the spec itself isn't at fault. */
  readonly lacks: 'clusterIssuer' | undefined;
  constructor(message: string, { lacks }: { lacks?: 'clusterIssuer' } = {}) {
    super(message);
    this.lacks = lacks;
  }
}

/** Collects the faults of all parts of a spec, so that one message names them all: `end` throws if there are any. */
export function collectUnusable() {
  const faults: Unusable[] = [];
  return {
    attempt<T>(make: () => T, otherwise: T): T {
      try {
        return make();
      } catch (error) {
        if (!(error instanceof Unusable)) throw error;
        faults.push(error);
        return otherwise;
      }
    },
    /** @throws Unusable */
    end(): void {
      if (faults.length > 0) throw new Unusable(faults.map(({ message }) => message).join('; '));
    },
  };
}

/** The value of a Secret that the frame has read before. */
export function secretOf(ref: ValueRef, secrets: Secrets): string {
  const value = secrets.get(secretName(ref));
  if (value === undefined) throw new Unusable(`the ${ref.in ?? 'Secret'} ${ref.name} has no key ${ref.key}`);
  if (!ref.trim) return value;
  const trimmed = value.trim();
  if (trimmed === '') throw new Unusable(`the key ${ref.key} of the Secret ${ref.name} holds nothing but white space`);
  return trimmed;
}

/**
 * One-line values with a line break at the end, as `echo secret | base64` creates: clients send the secret without it.
 */
export function brokenLines(refs: readonly ValueRef[], secrets: Secrets): string[] {
  const broken = refs.filter(
    (ref) => !ref.trim && !ref.form && /^[^\r\n]+\r?\n$/.test(secrets.get(secretName(ref)) ?? ''),
  );
  const places = new Set(broken.map(({ name, key }) => `key ${key} of the Secret ${name}`));
  return [...places].map(
    (place) =>
      `${place} ends in a line break, which is part of the value: trim: true in its secretKeyRef leaves it out`,
  );
}

/** Refuses a literal `${SVC_VAR_…}` in a Secret: the server would replace it by a variable of its own environment. */
export function literal(value: string, what: string): string {
  if (/^\$\{SVC_VAR_/.test(value)) throw new Unusable(`${what} must be a value, not a placeholder`);
  return value;
}

/** Drops undefined keys, so that the manager owns only declared fields. */
export function declaredFields<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
