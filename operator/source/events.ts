// Writes Kubernetes events about resources: repetitions raise a count, many similar ones become one, a flood is dropped.
// The rules and their numbers are those of client-go's recorder (tools/record, events_cache.go), which users know from
// every controller. It writes only events, and the operator works the same if an event is lost.
import { API_VERSION, type Resource } from '../resource.ts';
import type { ResourceEvent } from './source.ts';

export interface EventWriter {
  create(namespace: string, event: object): Promise<void>;
  /** @returns false: the event no longer exists, because the API server deletes events after an hour */
  patch(namespace: string, name: string, change: object): Promise<boolean>;
}

/** The most remembered objects, each with its last events. */
const OBJECTS = 4096;
const EVENTS = 64;
/** The number of different messages under one reason after which further ones are combined into one event. */
const ALIKE = 10;
/** The time without such a message after which they are no longer combined. */
const ALIKE_MS = 10 * 60_000;
/** The most events of an object at once; then one more for each period. */
const BURST = 25;
const REFILL_MS = 5 * 60_000;
const LONGEST = 1024;

interface Known {
  tokens: number;
  refilled: number;
  /** Recent messages by type and reason. */
  alike: Map<string, { messages: Set<string>; last: number }>;
  sent: Map<string, { name: string; firstTimestamp: string; count: number }>;
}

export function createRecorder(options: { component: string; writer: EventWriter; now(): number; newId(): string }) {
  const { component, writer, now, newId } = options;
  const objects = new Map<string, Known>();

  function knownOf(uid: string): Known {
    const known = objects.get(uid) ?? { tokens: BURST, refilled: now(), alike: new Map(), sent: new Map() };
    touch(objects, uid, known, OBJECTS);
    return known;
  }

  /** The message itself, or one text that stands for many messages of the same type and reason. */
  function combined({ alike }: Known, { type, reason, message }: ResourceEvent): { key: string; message: string } {
    const group = `${type} ${reason}`;
    const before = alike.get(group);
    const of = before && now() - before.last <= ALIKE_MS ? before : { messages: new Set<string>(), last: 0 };
    of.last = now();
    alike.set(group, of);
    if (of.messages.has(message) || of.messages.size < ALIKE) {
      of.messages.add(message);
      return { key: `${group} ${message}`, message };
    }
    return { key: group, message: `(combined from similar events): ${message}`.slice(0, LONGEST) };
  }

  function allowed(known: Known): boolean {
    const fresh = Math.floor((now() - known.refilled) / REFILL_MS);
    known.tokens = Math.min(BURST, known.tokens + fresh);
    known.refilled += fresh * REFILL_MS;
    if (known.tokens === 0) return false;
    known.tokens -= 1;
    return true;
  }

  return async (resource: Resource, told: ResourceEvent): Promise<void> => {
    const { name, namespace, uid, resourceVersion } = resource.metadata;
    const known = knownOf(uid);
    const event = { ...told, message: told.message.slice(0, LONGEST) };
    const { key, message } = combined(known, event);
    if (!allowed(known)) return;
    const at = new Date(now()).toISOString();
    const before = known.sent.get(key);
    const count = (before?.count ?? 0) + 1;
    const again = before && { ...before, count };
    if (again && (await writer.patch(namespace, again.name, { count, lastTimestamp: at, message }))) {
      touch(known.sent, key, again, EVENTS);
      return;
    }
    const fresh = { name: `${name.slice(0, 200)}.${newId()}`, firstTimestamp: again?.firstTimestamp ?? at, count };
    await writer.create(namespace, {
      metadata: { name: fresh.name, namespace },
      involvedObject: { apiVersion: API_VERSION, kind: resource.kind, name, namespace, uid, resourceVersion },
      type: event.type,
      reason: event.reason,
      message,
      source: { component },
      reportingComponent: component,
      firstTimestamp: fresh.firstTimestamp,
      lastTimestamp: at,
      count,
    });
    touch(known.sent, key, fresh, EVENTS);
  };
}

/** Moves the entry to the end; the least recently used entries are deleted first. */
function touch<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= most) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
