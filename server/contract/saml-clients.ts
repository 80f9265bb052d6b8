// SAML clients: service providers that are to get assertions. Decisions "SAML client"; specification 2.10, 4.10.
import { z } from 'zod';
import { claimSources } from './claims.ts';
import { EpochMs, HttpsAddress, HttpUrl, Id, InRealm, name, text } from './names.ts';
import { byKey, resourceRoutes } from './resource.ts';
import { route } from './route.ts';

const EntityId = name(1024).describe('Unique in the realm; an absolute URI by the standard');
const Binding = z.enum(['POST', 'Redirect']);
export const Certificate = text(20_000).regex(
  /^\s*-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*$/,
  'must be a certificate in PEM',
);

const Consumer = z.strictObject({
  url: HttpUrl.describe('Where assertions are sent'),
  binding: Binding.optional().describe('Assertions go by POST'),
  index: z.int().min(0).max(65_535).optional().describe('By which a request names it; left out: the next that is free'),
  default: z.boolean().optional().describe('Where requests that name none are answered; none: the first is'),
});
const Logout = z.strictObject({
  url: HttpUrl.describe('Where it is told that somebody signs out'),
  binding: Binding.describe('How'),
});
const Mapper = z.strictObject({
  name: name(255).describe('Unique in the client'),
  claim: name(1024).nullable().optional().describe('The attribute’s name in assertions, where it is another'),
  nameFormat: z.enum(['basic', 'uri', 'unspecified']).optional().describe('Of the attribute’s name; default basic'),
  source: z
    .enum(claimSources)
    .exclude(['audience'])
    .optional()
    .describe('Where the values come from, as of claims; default attribute'),
  attribute: name(255).nullable().optional().describe('As of claims'),
  value: text(1000).nullable().optional().describe('As of claims'),
});

const fields = {
  entityId: EntityId,
  name: name(255).nullable().describe('What people see'),
  enabled: z.boolean().describe('Whether people may sign in to it'),
  assertionConsumerServices: z
    .array(Consumer)
    .min(1)
    .max(100)
    .describe('Where assertions may be sent, and nowhere else'),
  singleLogoutServices: z.array(Logout).max(20).describe('Where single logout goes'),
  nameIdFormat: z
    .enum(['persistent', 'transient', 'emailAddress', 'unspecified'])
    .describe('What people are called, where a request doesn’t say'),
  signingCertificates: z.array(Certificate).max(10).describe('PEM: its own signatures are checked with'),
  encryptionCertificate: Certificate.nullable().describe('PEM: assertions are encrypted for'),
  requireSignedRequests: z.boolean().describe('Requests without its signature are refused'),
  signAssertions: z.boolean().describe('Whether assertions carry the realm’s signature'),
  signResponses: z.boolean().describe('Whether the answers around them do'),
  encryptAssertions: z.boolean().describe('Whether only it can read them'),
  idpInitiated: z.boolean().describe('Whether people may come without a request of its own'),
  consentRequired: z.boolean().describe('Whether people are asked before their data goes to it'),
  mappers: z
    .array(Mapper)
    .max(200)
    .refine((all) => new Set(all.map((m) => m.name)).size === all.length, 'must not have a name twice')
    .describe('Attributes in assertions'),
  metadataUrl: HttpsAddress.nullable().describe(
    'Where its metadata was fetched, and is fetched again each hour, where no manager owns the client',
  ),
  metadataCertificate: Certificate.nullable().describe('PEM: metadata from there counts only if this key signed it'),
  flowOverride: name(255).nullable().describe('Alias of the flow that signs people in'),
};

export const SamlClient = z
  .object({
    id: Id,
    ...fields,
    metadataUrl: z.string().nullable(),
    createdAt: EpochMs,
  })
  .meta({ id: 'SamlClient' });
export type SamlClient = z.infer<typeof SamlClient>;
export const SamlClientInput = z
  .strictObject(fields)
  .partial()
  .required({ entityId: true, assertionConsumerServices: true });
/** In a realm document; the natural key is the entity id. */
export const SamlClientDocument = z.strictObject(fields).partial().required({ entityId: true });

export const samlClientRoutes = resourceRoutes({
  path: 'saml-clients',
  area: 'saml-clients',
  one: 'a SAML client',
  many: 'SAML clients',
  wire: SamlClient,
  input: SamlClientInput,
  /** PUT takes what GET answered; a field that is left out keeps its value. */
  update: SamlClientInput.partial().extend({
    id: Id.optional(),
    createdAt: EpochMs.optional(),
  }),
  at: { param: 'entityId', schema: byKey('entityId', EntityId) },
  searches: true,
  example: {
    entityId: 'https://wiki.example.com/saml',
    name: 'Wiki',
    assertionConsumerServices: [{ url: 'https://wiki.example.com/saml/acs' }],
  },
  updateExample: { nameIdFormat: 'emailAddress' },
  problems: ['in-use'],
  describe: {
    list: 'List or search SAML clients',
    get: 'Read a SAML client; its entity id is percent-encoded in the path',
    remove: 'Delete a SAML client that no application names',
  },
});
export const {
  list: listSamlClients,
  create: createSamlClient,
  get: getSamlClient,
  put: putSamlClient,
  remove: deleteSamlClient,
} = samlClientRoutes;

/** Which of several, and who must have signed it. */
const chosen = {
  entityId: EntityId.optional().describe('Which one, where the metadata describes several service providers'),
  certificate: Certificate.optional().describe('PEM: metadata that this key did not sign is refused'),
};
const imported = {
  method: 'POST',
  tag: 'saml-clients',
  permission: 'saml-clients:write',
  params: InRealm,
  response: SamlClient,
} as const;
const whatItDoes =
  'What is there already gets what the metadata says and keeps the rest; a new client has the metadata’s name. Metadata with a document type, of more than 1 MB, or whose `validUntil` is past is refused.';

export const importSamlClient = route({
  ...imported,
  path: '/admin/realms/:realm/saml-clients/import',
  summary: 'Create or update a SAML client from metadata',
  description: `The body is the XML itself (\`application/samlmetadata+xml\`, \`application/xml\` or \`text/xml\`), or JSON that holds it in \`metadata\`. ${whatItDoes}`,
  body: z.strictObject({ ...chosen, metadata: text(1024 * 1024).min(1) }),
  example: {
    metadata: `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://crm.example.com/saml">
  <SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://crm.example.com/acs" index="0"/>
  </SPSSODescriptor>
</EntityDescriptor>`,
  },
  problems: ['name-taken', 'too-large', 'unsupported-media-type'],
});

export const importSamlClientFromUrl = route({
  ...imported,
  path: '/admin/realms/:realm/saml-clients/import-url',
  summary: 'Create or update a SAML client from metadata at an https address',
  description: `The address is kept as \`metadataUrl\`, the certificate as \`metadataCertificate\`: where one is kept already, it counts. ${whatItDoes}`,
  body: z.strictObject({ ...chosen, metadataUrl: HttpsAddress }),
  example: { metadataUrl: 'https://crm.example.com/saml/metadata' },
  problems: ['name-taken'],
});
