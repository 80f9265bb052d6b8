// Kubernetes label selectors: matchLabels and matchExpressions, and the text form of kubectl's --selector. Pure.
import type { AllowedNamespaces } from '../../server/contract/resources/realm.ts';

export type Selector = NonNullable<AllowedNamespaces['selector']>;
type Labels = Readonly<Record<string, string>>;

/** An empty selector selects everything, as everywhere in Kubernetes. */
export function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  const same = Object.entries(matchLabels).every(([key, value]) => labelOf(labels, key) === value);
  return same && matchExpressions.every((expression) => holds(expression, labels));
}

const labelOf = (labels: Labels, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;

function holds(
  { key, operator, values = [] }: NonNullable<Selector['matchExpressions']>[number],
  labels: Labels,
): boolean {
  const value = labelOf(labels, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

/** `team=identity,env!=dev,tenant,!legacy` @throws Error naming the invalid part */
export function parseSelector(text: string): Selector {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return {
    matchExpressions: parts.map((part) => {
      const [, key, sign, value] = /^([\w./-]+)\s*(==?|!=)\s*([\w.-]*)$/.exec(part) ?? [];
      if (key !== undefined && value !== undefined) {
        return { key, operator: sign === '!=' ? 'NotIn' : 'In', values: [value] } as const;
      }
      const [, not, alone] = /^(!?)([\w./-]+)$/.exec(part) ?? [];
      if (alone === undefined)
        throw new Error(`"${part}" is not a label requirement such as team=identity, env!=dev or tenant`);
      return { key: alone, operator: not ? 'DoesNotExist' : 'Exists' } as const;
    }),
  };
}
