// JSON values as they are compared and walked by the server, the operator and the command line.

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** As text in which the order of an object's keys makes no difference; a list's does. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );

/** Whether a text or a name anywhere in it holds NUL, which PostgreSQL keeps in no value. */
export function holdsNul(value: unknown): boolean {
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string' && next.includes('\0')) return true;
    if (typeof next !== 'object' || next === null) continue;
    for (const [name, part] of Object.entries(next)) {
      if (name.includes('\0')) return true;
      open.push(part);
    }
  }
  return false;
}
