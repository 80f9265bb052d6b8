// If a client moves to another Realm resource of the same realm and namespace, its Secret moves too, so that the client keeps
// its secret. The resource that releases the client moves it, or the resource that now declares it: the one that runs first.
// Decisions "Ownership".
import { type AnyKind, CLIENT_ID, type ClientOutput } from '../kinds/kind.ts';
import { nameOf, type Resource } from '../resource.ts';
import type { OwnSecrets } from '../source/source.ts';
import { type HandOverOptions, isApplied, PATIENCE_MS } from './hand-over.ts';
import { realmOf } from './registry.ts';

export type SecretHandOverOptions = Pick<HandOverOptions, 'kinds' | 'inRealm' | 'pause' | 'log'>;

export function createSecretHandOver({ kinds, inRealm, pause, log }: SecretHandOverOptions) {
  /** Other resources of the same kind, namespace and realm. */
  function besides(resource: Resource): Resource[] {
    const { kind, metadata } = resource;
    return inRealm(realmOf(resource) ?? '').filter(
      (other) =>
        other.kind === kind && other.metadata.namespace === metadata.namespace && other.metadata.uid !== metadata.uid,
    );
  }

  async function give(own: OwnSecrets, output: ClientOutput, from: Resource, to: Resource): Promise<boolean> {
    const { name, clientId } = output;
    const given = await own.give(name, { from, to, fits: (values) => values.get(CLIENT_ID) === clientId });
    if (given)
      log({ resource: nameOf(from), message: `moved the Secret ${name} to ${nameOf(to)}, which declares it now` });
    return given;
  }

  /** @returns false if no other resource declares the Secret for its client */
  async function offer(own: OwnSecrets, resource: Resource, name: string): Promise<boolean> {
    for (const other of besides(resource).filter(isApplied)) {
      const output = outputsOf(other, kinds)?.find((one) => one.name === name);
      if (output && (await give(own, output, resource, other))) return true;
    }
    return false;
  }

  return {
    offer,

    /** Hands over the Secrets of a resource under deletion: they would be deleted with it. */
    async leave(own: OwnSecrets, resource: Resource): Promise<void> {
      const declared = (outputsOf(resource, kinds) ?? []).map(({ name }) => name);
      const offerAll = async (names: Iterable<string>) => {
        const left: string[] = [];
        for (const name of names) if (!(await offer(own, resource, name))) left.push(name);
        return left;
      };
      const left = await offerAll(new Set([...own.namesOf(resource), ...declared]));
      const policy = Object(resource.spec).deletionPolicy ?? kinds.get(resource.kind)?.deletionPolicy;
      // a deleted realm's clients are deleted with it
      if (left.length === 0 || policy !== 'Retain') return;
      await pause(PATIENCE_MS);
      await offerAll(left);
    },

    /** The other resource that has created the Secret, as far as is known. */
    maker: (own: OwnSecrets, resource: Resource, name: string): Resource | undefined =>
      besides(resource).find((other) => own.namesOf(other).includes(name)),

    /**
     * Takes the Secret from a resource that no longer declares it.
     * @returns false: that resource keeps it, or it belongs to another client
     */
    async take(own: OwnSecrets, output: ClientOutput, from: Resource, to: Resource): Promise<boolean> {
      const isLetGo =
        from.metadata.deletionTimestamp !== undefined ||
        (isApplied(from) && outputsOf(from, kinds)?.every(({ name }) => name !== output.name));
      return isLetGo === true && give(own, output, from, to);
    },
  };
}

/** undefined: the spec can't be parsed, so its declarations are unknown. */
function outputsOf({ kind: name, spec }: Resource, kinds: ReadonlyMap<string, AnyKind>) {
  const kind = kinds.get(name);
  const parsed = kind?.spec.safeParse(spec);
  return parsed?.success ? (kind?.outputs?.(parsed.data) ?? []) : undefined;
}
