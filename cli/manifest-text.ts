// Prints manifests as text for Git, as one stream or one file per object: the same realm always gives the same bytes.
// It also prints how to create the Secrets, as text and as kubectl commands. manifests.ts makes the objects.
import { stringify } from 'yaml';
import type { Manifest, Manifests, SecretToCreate } from './manifests.ts';

/** The text is also valid YAML 1.1, which kubectl reads: `on` and `1:30` are quoted. */
export const yamlText = (value: unknown): string =>
  stringify(value, { compat: 'yaml-1.1', lineWidth: 0, aliasDuplicateObjects: false });

export const fileName = ({ kind, metadata }: Manifest): string => `${kind.toLowerCase()}-${metadata.name}.yaml`;

/** All manifests as one stream, with the notes as comments before them. */
export function yamlStream({ items, secrets, notes }: Manifests, namespace?: string): string {
  const head = [...notes, ...secretLines(secrets, namespace)].map((line) => `# ${oneLine(line)}`.trimEnd());
  return `${head.join('\n')}\n${items.map((item) => `---\n${yamlText(item)}`).join('')}`;
}

export const jsonList = ({ items }: Manifests): string =>
  `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2)}\n`;

/** The commands that create the Secrets, with values from files: all users of a machine see a command's arguments. */
export function secretLines(secrets: readonly SecretToCreate[], namespace?: string): string[] {
  if (secrets.length === 0) return [];
  const into = namespace === undefined ? '' : ` --namespace ${namespace}`;
  return [
    'Secrets to create, each value from a file that holds it and no line break:',
    ...bySecret(secrets).map(
      ([name, of]) =>
        `  kubectl create secret generic ${name}${into} ${of.map(({ key }) => `--from-file=${key}=FILE`).join(' ')} # ${ownersOf(of)}`,
    ),
  ];
}

/** A Secret holds all values that are named by it. */
const bySecret = (secrets: readonly SecretToCreate[]): [string, SecretToCreate[]][] => [
  ...Map.groupBy(secrets, ({ name }) => name),
];
const ownersOf = (secrets: readonly SecretToCreate[]): string => [...new Set(secrets.map(({ of }) => of))].join(', ');

/** Secrets with empty values, to be filled in by hand or by another tool: filled ones don't belong into Git. */
export function secretTemplates(secrets: readonly SecretToCreate[], namespace?: string): string {
  return bySecret(secrets)
    .map(([name, of]) => {
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, ...(namespace !== undefined && { namespace }) },
        stringData: Object.fromEntries(of.map(({ key }) => [key, ''])),
      };
      return `--- # ${oneLine(ownersOf(of))}\n${yamlText(secret)}`;
    })
    .join('');
}

/** A name from the realm must not end the comment. */
const oneLine = (text: string): string => text.replaceAll(/[\r\n\u0085\u2028\u2029]/g, ' ');
