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
  /** A Secret was created, changed or deleted. */
  secretChanged(namespace: string, name: string): void;
  /** A ConfigMap was created, changed or deleted. */
  configMapChanged?(namespace: string, name: string): void;
  /** The labels of a namespace have changed. */
  namespaceChanged?(namespace: string): void;
  /** The source answers again after an outage: failed passes can be retried. */
  reached?(): void;
}

/** A Secret that a resource has created for itself. */
export interface OwnSecret<Value = string> {
  values: ReadonlyMap<string, Value>;
  /** The `rotation` of the spec for which the value was generated. */
  rotation: string | undefined;
  /** The version that was read; undefined: the Secret doesn't exist yet. */
  version: string | undefined;
}

/** The operator has no right to write Secrets in the namespace. */
export class SecretForbidden extends Error {
  constructor(namespace: string, name: string, options?: ErrorOptions) {
    const way = `the chart’s operator.writeSecretNamespaces gives it for ${namespace}, operator.writeSecrets for all namespaces`;
    super(`the operator has no right to write the Secret ${name} of a client’s secretOutput: ${way}`, options);
  }
}

/** A handover between two resources of one namespace. */
export interface SecretGift {
  from: Resource;
  to: Resource;
  fits(values: ReadonlyMap<string, string>): boolean;
}

export interface OwnSecrets {
  /** @returns undefined: there is no such Secret; `others`: it isn't the resource's */
  read(resource: Resource, name: string): Promise<OwnSecret | 'others' | undefined>;
  /** Creates the Secret, or sets these values in it; null removes one. Other values stay, also those written meanwhile. */
  write(resource: Resource, name: string, secret: OwnSecret<string | null>): Promise<void>;
  /** Names of the Secrets that the resource has created; the latest one may be missing for a moment. */
  namesOf(resource: Resource): readonly string[];
  /**
   * Hands a Secret that `from` has created over to `to`, if its values fit: values and labels stay, and `from` is no
   * longer an owner.
   * @returns false: there is no such Secret
   */
  give(name: string, change: SecretGift): Promise<boolean>;
  /** Deletes a Secret that the resource has created. @returns false: there is no such Secret */
  remove(resource: Resource, name: string): Promise<boolean>;
}

export interface Source {
  /** Resolves once all existing objects are known. */
  start(listener: SourceListener): Promise<void>;
  stop(): Promise<void>;
  /** Resolves once all changes from before the call are known. */
  refresh(): Promise<void>;
  /** The resource as last seen; undefined: it doesn't exist. */
  get(key: string): Resource | undefined;
  list(): readonly Resource[];
  /** The Secret's values, decoded; undefined: there is no such Secret. */
  secret(namespace: string, name: string): Promise<ReadonlyMap<string, string> | undefined>;
  /** The ConfigMap's texts; undefined: there is no such ConfigMap. */
  configMap(namespace: string, name: string): Promise<ReadonlyMap<string, string> | undefined>;
  namespaceLabels(namespace: string): Promise<Readonly<Record<string, string>>>;
  /** Writes the whole status, at once. */
  writeStatus(resource: Resource, status: Status): Promise<void>;
  /** @returns false: the resource no longer exists, even if another one has its name now */
  addFinalizer(resource: Resource): Promise<boolean>;
  removeFinalizer(resource: Resource): Promise<void>;
  say(resource: Resource, event: ResourceEvent): Promise<void>;
  /** Undefined if the source can't create Secrets. */
  readonly ownSecrets?: OwnSecrets;
  /** The issuer of this cluster's ServiceAccount tokens, once it is known. */
  readonly clusterIssuer: string | undefined;
  /** Why the labels of namespaces can't be read; undefined: they can. */
  readonly labelsUnreadable?: string | undefined;
}
