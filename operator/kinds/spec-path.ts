// Where in a resource's spec a path of the document that was made of it stands: the server speaks of the document.
import type { KindName } from '../resource.ts';

/** `flows[0].executions[1].config` → `spec.executions[1].config` */
export function specPath(kind: KindName, path: string): string {
  const own = kind === 'Realm' ? path.replace(/^realm(?=\.|$)/, 'settings') : path.replace(/^\w+\[0\]\.?/, '');
  const found = kind === 'Flow' && path === 'realm.browserFlow' ? 'bind' : own;
  return ['spec', found.replace(/^(clients\[\d+\]\.)?secret$/, '$1secretKeyRef')].filter(Boolean).join('.');
}
