// Realm documents that are compared: read from a file, and without what no two realms share.

export type RealmDocument = Record<string, unknown>;

const PLACEHOLDER = /^\$\{SVC_VAR_\w+\}$/;

/** Without the placeholders of secrets: their values are the server's own, and are not compared. */
export function withoutPlaceholders(document: RealmDocument): RealmDocument {
  const clean = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(clean);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, of]) => typeof of !== 'string' || !PLACEHOLDER.test(of))
        .map(([name, of]) => [name, clean(of)]),
    );
  };
  const { requiredEnv: _, ...rest } = document;
  return { ...Object(clean(rest)) };
}

/** @returns the document, or why there is none */
export async function readDocument(text: string): Promise<{ document?: RealmDocument; fault?: string }> {
  const { parseAllDocuments } = await import('yaml');
  const parsed = parseAllDocuments(text);
  const [first] = parsed;
  if (!('length' in parsed) || !first) return { fault: 'The file is empty.' };
  if (parsed.length > 1)
    return { fault: 'The file has several documents. Give one realm document, or use realmctl diff -f.' };
  const [error] = first.errors;
  if (error) return { fault: error.message.split('\n')[0] ?? 'This is neither JSON nor YAML.' };
  const value: unknown = first.toJS();
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { fault: 'A realm document is a map of sections: clients, roles, flows, …' };
  if ('apiVersion' in value && 'kind' in value)
    return { fault: 'This is a resource of a cluster. realmctl diff -f compares it with the realm.' };
  return { document: withoutPlaceholders({ ...value }) };
}
