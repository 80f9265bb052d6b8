// The attributes that a user consents to for a service provider: pure. As for OpenID Connect clients, but without
// scopes.
import type { Agreement } from '../../../domain/agreement.ts';
import { isPersonal } from '../../../domain/claims.ts';
import type { NameIdFormat } from '../../../domain/saml-names.ts';
import type { SamlClientView } from './view.ts';

/** The personal data that the name identifier itself contains. */
const saidByName: Partial<Record<NameIdFormat, string>> = { emailAddress: 'email', unspecified: 'username' };

/** The agreement, by the names of the attributes that the application gets. */
export function agreementOf({ mappers }: Pick<SamlClientView, 'mappers'>, format: NameIdFormat): Agreement {
  const named = saidByName[format];
  const attributes = mappers.filter(isPersonal).map(({ claim, name }) => claim ?? name);
  const claims = [...new Set([...(named === undefined ? [] : [named]), ...attributes])];
  return { scopes: [], resources: [], claims };
}
