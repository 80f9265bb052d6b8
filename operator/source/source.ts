// The port to the resources' source, a cluster or a folder, so that both are the same to the reconcilers. Design
// "Reconciler".
import type { Resource, Status } from '../resource.ts';
import type { EventReason } from '../runtime/reasons.ts';

export interface ResourceEvent {
  type: 'Normal' | 'Warning';
  reason: EventReason;
  message: string;
}

/** The events of a source. Keys are those of `keyOfResource`. */
export interface SourceListener {
  changed(key: string): void;
  /** A Secret was made, changed or deleted. */
  secretChanged(namespace: string, name: string): void;
  /** A ConfigMap was made, changed or deleted. */
  configMapChanged?(namespace: string, name: string): void;
  /** A namespace has got other labels. */
  namespaceChanged?(namespace: string): void;
  /** The source answers again after it did not: what failed meanwhile is worth another try. */
  reached?(): void;
}

/** A Secret that a resource has made for itself. */
export interface OwnSecret<Value = string> {
  values: ReadonlyMap<string, Value>;
  /** The `rotation` that its value is of. */
  rotation: string | undefined;
  /** The version that was read; undefined: the Secret doesn't exist yet. */
  version: string | undefined;
}

/** Between two resources of one namespace. */
export interface SecretGift {
  from: Resource;
  to: Resource;
  fits(values: ReadonlyMap<string, string>): boolean;
}

export interface OwnSecrets {
  /** @returns undefined where there is none, `others` where it isn't the resource's */
  read(resource: Resource, name: string): Promise<OwnSecret | 'others' | undefined>;
  /** Creates the Secret, or sets these values in it; null removes one. Other values stay, also those written meanwhile. */
  write(resource: Resource, name: string, secret: OwnSecret<string | null>): Promise<void>;
  /** Names of those that the resource has made; one that was made a moment ago may be missing. */
  namesOf(resource: Resource): readonly string[];
  /**
   * Makes one that `from` has made, and whose values fit, `to`'s: values and labels stay, and `from` has no part in it.
   * @returns false where there is none
   */
  give(name: string, change: SecretGift): Promise<boolean>;
  /** Takes away one that the resource has made. @returns false where there is none */
  remove(resource: Resource, name: string): Promise<boolean>;
}

export interface Source {
  /** Resolves once everything that exists is known. */
  start(listener: SourceListener): Promise<void>;
  stop(): Promise<void>;
  /** Resolves once all that had happened before the call is known. */
  refresh(): Promise<void>;
  /** As last seen; undefined: gone. */
  get(key: string): Resource | undefined;
  list(): readonly Resource[];
  /** The Secret's values, decoded; undefined: there is no such Secret. */
  secret(namespace: string, name: string): Promise<ReadonlyMap<string, string> | undefined>;
  /** The ConfigMap's texts; undefined: there is no such ConfigMap. */
  configMap(namespace: string, name: string): Promise<ReadonlyMap<string, string> | undefined>;
  namespaceLabels(namespace: string): Promise<Readonly<Record<string, string>>>;
  /** Writes the whole status, at once. */
  writeStatus(resource: Resource, status: Status): Promise<void>;
  /** @returns false where the resource is gone, be it that another of its name has come */
  addFinalizer(resource: Resource): Promise<boolean>;
  removeFinalizer(resource: Resource): Promise<void>;
  say(resource: Resource, event: ResourceEvent): Promise<void>;
  /** Undefined where no Secrets can be made. */
  readonly ownSecrets?: OwnSecrets;
  /** The issuer of this cluster's ServiceAccount tokens, once it is known. */
  readonly clusterIssuer: string | undefined;
  /** Why labels of namespaces can't be gone by, where they can't. */
  readonly labelsUnreadable?: string | undefined;
}
