// The audit event of each changed object: the same for a request and for a document.
// Specification 6.1; decisions "Import, export, plan".
import type { By, DomainEvent } from '../contract/events.ts';
import type { PlannedChange, RealmPart } from './part.ts';

/** @param manager the document's manager; absent for the admin API */
export function eventsOf(
  { realm, by, manager }: { realm: string; by: By; manager?: string | undefined },
  parts: readonly RealmPart[],
  changes: readonly PlannedChange[],
): DomainEvent[] {
  const byKind = new Map(parts.map((part) => [part.kind, part]));
  const fieldwise = parts
    .filter((part) => part.fieldwise)
    .flatMap((part): DomainEvent[] => {
      const fields = changes.filter((change) => change.kind === part.kind).map((change) => change.key);
      if (fields.length === 0) return [];
      const subject = { type: 'realm', id: realm, name: realm } as const;
      const data = { fields, ...(manager !== undefined && { manager }) };
      return [{ type: part.events.update, realm, by, subject, data }];
    });
  const single = changes.flatMap((change): DomainEvent[] => {
    const part = byKind.get(change.kind);
    if (!part || part.fieldwise) return [];
    const { action, kind, key, id = null } = change;
    const as = action === 'delete' ? (change.before ?? {}) : change.save;
    const event: DomainEvent = {
      type: part.events[action],
      realm,
      by,
      subject: part.subject?.(key, id, realm) ?? { type: 'object', id, name: key },
      ...(part.clientOf && { clientId: part.clientOf(key, as) }),
      data: {
        kind,
        action,
        fields: change.fields.map((f) => f.path),
        ...part.detail?.(as),
        ...(change.renamedFrom !== undefined && { renamedFrom: change.renamedFrom }),
        ...(manager !== undefined && { manager }),
      },
    };
    return [event, ...(part.alsoEvents?.(change) ?? []).map((type) => ({ ...event, type }))];
  });
  return [...fieldwise, ...single];
}
