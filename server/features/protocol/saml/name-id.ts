// The name of a user for a service provider. SAML 2.0 Core §8.3; decisions "SAML".
import type { Person } from '../../../domain/person.ts';
import type { NameIdFormat } from '../../../domain/saml-names.ts';
import { newXmlId } from '../../../domain/saml-writing.ts';
import type { Subjects } from '../../../domain/subjects.ts';

export interface NameId {
  format: NameIdFormat;
  value: string;
}

/** The prefix separates them from the sectors of OpenID Connect clients, which are hosts and ids. */
const sectorOf = (entityId: string): string => `saml:${entityId}`;

/** @returns undefined: the user has no name of that format */
export async function nameIdOf(
  subjects: Pick<Subjects, 'of'>,
  realm: string,
  { entityId }: { entityId: string },
  format: NameIdFormat,
  person: Person,
): Promise<NameId | undefined> {
  const value = await text();
  return value ? { format, value } : undefined;

  async function text(): Promise<string | null | undefined> {
    switch (format) {
      case 'transient':
        return newXmlId();
      case 'emailAddress':
        return person.email;
      case 'unspecified':
        return person.username;
      // always pairwise, whatever the realm's subject strategy: the format demands it
      case 'persistent':
        return (await subjects.of(realm, { subjectType: 'pairwise', sector: sectorOf(entityId) }, person))?.sub;
    }
  }
}
