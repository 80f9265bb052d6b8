// Every route that server/contract exports: by a name of its own, or with the kind that it is of.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { declaredKinds } from '../../server/contract/declared-kinds.ts';
import type { KindOf } from '../../server/contract/kind.ts';
import type { Route } from '../../server/contract/route.ts';

const folder = path.resolve(import.meta.dirname, '../../server/contract');
const isRoute = (value: unknown): value is Route =>
  typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'recordsNothing' in value;

export async function contractRoutes(): Promise<Route[]> {
  const modules: object[] = await Promise.all(
    readdirSync(folder)
      .filter((file) => file.endsWith('.ts'))
      .map((file) => import(path.join(folder, file))),
  );
  const ofKinds = Object.values<KindOf>(declaredKinds).flatMap(({ routes }): unknown[] => Object.values(routes));
  return [...new Set([...modules.flatMap((module): unknown[] => Object.values(module)), ...ofKinds])].filter(isRoute);
}
