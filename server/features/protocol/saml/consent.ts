// What a person agrees to where a service provider asks for them: pure. As for OpenID's clients, but that there are no scopes.
import type { Agreement } from '../../../domain/agreement.ts';
import { isPersonal } from '../../../domain/claims.ts';
import type { NameIdFormat } from '../../../domain/saml-names.ts';
import type { SamlClientView } from './view.ts';

/** What the name identifier itself says of the person. */
const saidByName: Partial<Record<NameIdFormat, string>> = { emailAddress: 'email', unspecified: 'username' };

/** By the names of the attributes that the application gets. */
export function agreementOf({ mappers }: Pick<SamlClientView, 'mappers'>, format: NameIdFormat): Agreement {
  const named = saidByName[format];
  const attributes = mappers.filter(isPersonal).map(({ claim, name }) => claim ?? name);
  const claims = [...new Set([...(named === undefined ? [] : [named]), ...attributes])];
  return { scopes: [], resources: [], claims };
}
