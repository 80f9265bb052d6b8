// The SCIM server's description of itself: RFC 7643 §5 to §7, RFC 7644 §4, RFC 9865 §4. Pure.
import { Problem } from '../../../contract/problem.ts';
import { LIST, scimLimits } from '../../../contract/scim.ts';
import type { Values } from './body.ts';
import { type Attribute, type ResourceType, resourceTypes, type Schema, schemas } from './schema.ts';

const META = 'urn:ietf:params:scim:schemas:core:2.0';
const meta = (base: string, resourceType: string, path: string) => ({
  resourceType,
  location: `${base}/${path}`,
});

export const configOf = (base: string): Values => ({
  schemas: [`${META}:ServiceProviderConfig`],
  patch: { supported: true },
  bulk: { supported: true, maxOperations: scimLimits.operations, maxPayloadSize: scimLimits.payloadBytes },
  filter: { supported: true, maxResults: scimLimits.mostOnAPage },
  changePassword: { supported: true },
  sort: { supported: true },
  etag: { supported: true },
  pagination: {
    cursor: true,
    index: true,
    defaultPaginationMethod: 'index',
    defaultPageSize: scimLimits.page,
    maxPageSize: scimLimits.mostOnAPage,
  },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'SCIM token',
      description: 'A token that an administrator of the realm made for provisioning, as Authorization: Bearer',
      specUri: 'https://www.rfc-editor.org/info/rfc6750',
      primary: true,
    },
  ],
  meta: meta(base, 'ServiceProviderConfig', 'ServiceProviderConfig'),
});

const printed = ({ subAttributes, ...attribute }: Attribute): Values => ({
  ...attribute,
  ...(subAttributes && { subAttributes: subAttributes.map(printed) }),
});
const schemaOf = (base: string, { attributes, ...schema }: Schema): Values => ({
  schemas: [`${META}:Schema`],
  ...schema,
  attributes: attributes.map(printed),
  meta: meta(base, 'Schema', `Schemas/${schema.id}`),
});
const typeOf = (base: string, { name, endpoint, description, schema, extensions }: ResourceType): Values => ({
  schemas: [`${META}:ResourceType`],
  id: name,
  name,
  endpoint,
  description,
  schema: schema.id,
  ...(extensions.length > 0 && { schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })) }),
  meta: meta(base, 'ResourceType', `ResourceTypes/${name}`),
});

const listed = (resources: readonly Values[]): Values => ({
  schemas: [LIST],
  totalResults: resources.length,
  itemsPerPage: resources.length,
  startIndex: 1,
  Resources: resources,
});
const oneOf = <T>(all: readonly T[], is: (one: T) => boolean, what: string): T => {
  const found = all.find(is);
  if (!found) throw new Problem('not-found', `There is no such ${what}`);
  return found;
};

export const schemaList = (base: string): Values => listed(schemas.map((schema) => schemaOf(base, schema)));
export const oneSchema = (base: string, wanted: string): Values =>
  schemaOf(
    base,
    oneOf(schemas, ({ id }) => id.toLowerCase() === wanted.toLowerCase(), 'schema'),
  );
export const typeList = (base: string): Values => listed(resourceTypes.map((type) => typeOf(base, type)));
export const oneType = (base: string, wanted: string): Values =>
  typeOf(
    base,
    oneOf(resourceTypes, ({ name }) => name === wanted, 'resource type'),
  );
