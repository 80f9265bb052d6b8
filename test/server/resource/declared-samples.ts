// A value for each field of the kinds that are declared as a whole: what their contract gives as examples.
import { declaredKinds } from '../../../server/contract/declared-kinds.ts';
import type { KindOf } from '../../../server/contract/kind.ts';
import { tableOf } from '../../../server/resource/declared.ts';
import type { Sample } from './sample.ts';

/** Of kinds whose natural key is no free name. */
const keys: Readonly<Record<string, Sample['keyOf']>> = {
  messageTexts: (name) => `de-${name.split('-')[1]?.slice(0, 8)}`,
};

export const declaredSamples: readonly Sample[] = Object.values<KindOf>(declaredKinds).map(
  ({ section, kind, routes, needed, entry: { key, secrets } }) => {
    const { [key]: _, ...fields }: Record<string, unknown> = routes.put.example ?? {};
    const first: Record<string, unknown> = routes.create.example ?? {};
    const there = Object.fromEntries(needed.map((field) => [field, first[field]]));
    const keyOf = keys[section];
    return {
      section,
      table: tableOf(kind),
      key,
      routes,
      needed: there,
      fields,
      random: secrets,
      ...(keyOf && { keyOf }),
    };
  },
);
