// The attributes of an assertion, from the same data as OpenID Connect claims: one attribute per name, however many
// mappers contribute to it. Pure. SAML 2.0 Core §2.7.3; decisions "SAML client".
import { type SessionFacts, textsOf } from '../../../domain/claims.ts';
import type { Person } from '../../../domain/person.ts';
import type { Mapper } from './view.ts';

export interface Attribute {
  name: string;
  format: Mapper['nameFormat'];
  values: readonly string[];
}

export function attributesOf(mappers: readonly Mapper[], person: Person, session: SessionFacts): Attribute[] {
  const all = new Map<string, { name: string; format: Mapper['nameFormat']; values: Set<string> }>();
  for (const mapper of mappers) {
    const name = mapper.claim ?? mapper.name;
    const attribute = all.get(name) ?? { name, format: mapper.nameFormat, values: new Set() };
    all.set(name, attribute);
    for (const value of textsOf({ ...mapper, name }, person, session)) attribute.values.add(value);
  }
  return [...all.values()].flatMap(({ values, ...one }) => (values.size > 0 ? [{ ...one, values: [...values] }] : []));
}
