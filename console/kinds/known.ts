// Every kind that the generic pages show, declared or written out.
import { declaredEntries } from '../generated/kinds.ts';
import type { KindEntry } from './entry.ts';
import { writtenOut } from './written-out.ts';

/** Where the API's words for an object are other ones than the heading of its pages. */
const renamed: Readonly<Record<string, Partial<Pick<KindEntry, 'one' | 'many'>>>> = {
  webhooks: { one: 'a webhook', many: 'webhooks' },
  workloadIdentity: { one: 'a workload identity', many: 'workload identities' },
};
export const allKinds: readonly KindEntry[] = [...declaredEntries, ...writtenOut].map((entry) => ({
  ...entry,
  ...renamed[entry.section],
}));
