// Translates a path in the document to the path in the spec that it came from, because the server's messages name paths
// in the document.
import { realmField } from '../../server/contract/resources/realm.ts';
import { referenceTo } from '../../server/contract/section.ts';
import { presentSections } from '../../server/contract/sections.ts';
import type { KindName } from '../resource.ts';

/** The place of an element in its section: `[3]`, `.shop[0]`. */
const ELEMENT = { list: /^(?:\[\d+\])?/, map: /^(?:\..*?\[\d+\])?/s, object: /^/ };

/** `flows[0].executions[1].config` → `spec.executions[1].config`, `clients[3].secret` → `spec.clients[3].secretKeyRef` */
export function specPath(kind: KindName, path: string): string {
  if (kind === 'Flow' && path === 'realm.browserFlow') return 'spec.bind';
  const key = /^\w*/.exec(path)?.[0] ?? '';
  const section = presentSections.get(key);
  if (!section) return ['spec', path].filter(Boolean).join('.');
  const element = ELEMENT[section.shape ?? 'list'].exec(path.slice(key.length))?.[0] ?? '';
  const inElement = path.slice(key.length + element.length);
  const secret = section.secrets?.find((field) => inElement === `.${field}`);
  const rest = secret === undefined ? inElement : `.${referenceTo(secret)}`;
  if (kind !== 'Realm') return `spec${rest}`;
  return `spec.${realmField(key)}${element}${rest}`;
}

/** `clients[3].redirectUris[0]`, as the server writes paths. */
export const pathWords = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}${text && '.'}${String(step)}`),
    '',
  );
