// SAML clients: service providers that receive assertions. Decisions "SAML client"; specification 2.10, 4.10.
import { z } from 'zod';
import { claimSources } from './claims.ts';
import { type AnswerOf, type InputOf, kind } from './kind.ts';
import { EpochMs, HttpsAddress, HttpUrl, InRealm, name, text } from './names.ts';
import { PemCertificate } from './pem.ts';
import { route } from './route.ts';

const EntityId = name(1024).describe('Unique in the realm; an absolute URI by the standard');
const Binding = z.enum(['POST', 'Redirect']);

const Consumer = z.strictObject({
  url: HttpUrl.describe('Where assertions are sent'),
  binding: Binding.optional().describe('Assertions go by POST'),
  index: z.int().min(0).max(65_535).optional().describe('By which a request names it; left out: the next that is free'),
  default: z.boolean().optional().describe('Where requests that name none are answered; none: the first is'),
});
const Logout = z.strictObject({
  url: HttpUrl.describe('Where it is told that somebody signs out'),
  binding: Binding.describe('How'),
  responseUrl: HttpUrl.optional().describe('Where it expects answers to its own requests; left out: at `url`'),
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

export const samlClients = kind({
  section: 'samlClients',
  kind: 'samlClient',
  one: 'a SAML client',
  many: 'SAML clients',
  description: 'Service providers by SAML 2.0, by entity id',
  key: 'entityId',
  at: 'entityId',
  fields: {
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
    signingCertificates: z.array(PemCertificate).max(10).describe('PEM: its own signatures are checked with'),
    encryptionCertificate: PemCertificate.nullable().describe('PEM: assertions are encrypted for'),
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
    metadataCertificate: PemCertificate.nullable().describe(
      'PEM: metadata from there counts only if this key signed it',
    ),
    flowOverride: name(255).nullable().describe('Alias of the flow that signs people in'),
  },
  needed: ['assertionConsumerServices'],
  fresh: {
    enabled: true,
    assertionConsumerServices: [],
    nameIdFormat: 'persistent',
    requireSignedRequests: false,
    signAssertions: true,
    signResponses: true,
    encryptAssertions: false,
    idpInitiated: false,
    consentRequired: false,
  },
  names: { flowOverride: 'flow' },
  answered: { metadataUrl: z.string().nullable(), createdAt: EpochMs },
  namedLists: { mappers: 'name' },
  searches: ['entityId', 'name'],
  most: 10_000,
  mostInResource: 200,
  problems: ['in-use'],
  describe: {
    list: 'List or search SAML clients',
    get: 'Read a SAML client; its entity id is percent-encoded in the path',
    remove: 'Delete a SAML client that no application names',
  },
  form: { lead: 'Applications that sign people in by SAML 2.0' },
  example: {
    entityId: 'https://wiki.example.com/saml',
    name: 'Wiki',
    assertionConsumerServices: [{ url: 'https://wiki.example.com/saml/acs' }],
  },
  updateExample: {
    name: 'The wiki',
    enabled: false,
    assertionConsumerServices: [{ url: 'https://b.example.com/acs', index: 3 }, { url: 'https://a.example.com/acs' }],
    singleLogoutServices: [{ url: 'https://wiki.example.com/slo', binding: 'Redirect' }],
    nameIdFormat: 'emailAddress',
    signAssertions: false,
    signResponses: false,
    idpInitiated: true,
    consentRequired: true,
    mappers: [{ name: 'mail', source: 'property', attribute: 'email' }, { name: 'department' }],
    metadataUrl: 'https://wiki.example.com/metadata',
    flowOverride: 'browser',
  },
  cli: {
    help: 'service providers by SAML 2.0',
    shown: ['enabled', 'name'],
    heads: {
      entityId: 'ENTITY ID',
      nameIdFormat: 'NAME ID',
      assertionConsumerServices: 'ASSERTIONS GO TO',
      flowOverride: 'FLOW',
      createdAt: 'CREATED',
    },
  },
});
export const SamlClientInput = samlClients.input;
export type SamlClient = AnswerOf<typeof samlClients>;
export type SamlClientInput = InputOf<typeof samlClients>;
export const {
  list: listSamlClients,
  create: createSamlClient,
  get: getSamlClient,
  put: putSamlClient,
  remove: deleteSamlClient,
} = samlClients.routes;

/** Selects one of several service providers, and names the key that must have signed the metadata. */
const chosen = {
  entityId: EntityId.optional().describe('Which one, where the metadata describes several service providers'),
  certificate: PemCertificate.optional().describe('PEM: metadata that this key did not sign is refused'),
};
const imported = {
  method: 'POST',
  tag: 'saml-clients',
  permission: 'saml-clients:write',
  params: InRealm,
  response: samlClients.wire,
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
  problems: ['declared-only', 'name-taken', 'too-large', 'unsupported-media-type'],
});

export const SamlClientReading = z
  .object({
    entityId: z.string(),
    exists: z.boolean().describe('Whether the realm has the client already'),
    client: z
      .record(z.string(), z.unknown())
      .describe('The fields that the import would write, as a realm document has them'),
    changed: z.array(z.string()).describe('Those that differ from what is stored; of a new client, all'),
  })
  .meta({ id: 'SamlClientReading' });
export type SamlClientReading = z.infer<typeof SamlClientReading>;
export const readSamlMetadata = route({
  method: 'POST',
  path: '/admin/realms/:realm/saml-clients/import/dry-run',
  operationId: 'readSamlMetadata',
  tag: 'saml-clients',
  summary: 'Say what an import of metadata would write; nothing is written',
  description: `Either \`metadata\` or \`metadataUrl\`. Metadata is refused as the import refuses it.`,
  permission: 'saml-clients:write',
  params: InRealm,
  body: z
    .strictObject({
      ...chosen,
      metadata: text(1024 * 1024)
        .min(1)
        .optional(),
      metadataUrl: HttpsAddress.optional(),
    })
    .refine(
      ({ metadata, metadataUrl }) => (metadata === undefined) !== (metadataUrl === undefined),
      'needs either metadata or metadataUrl',
    ),
  example: { metadata: importSamlClient.example?.metadata ?? '' },
  response: SamlClientReading,
  recordsNothing: true,
  problems: ['too-large'],
});

export const importSamlClientFromUrl = route({
  ...imported,
  path: '/admin/realms/:realm/saml-clients/import-url',
  summary: 'Create or update a SAML client from metadata at an https address',
  description: `The address is kept as \`metadataUrl\`, the certificate as \`metadataCertificate\`: where one is kept already, it counts. ${whatItDoes}`,
  body: z.strictObject({ ...chosen, metadataUrl: HttpsAddress }),
  example: { metadataUrl: 'https://crm.example.com/saml/metadata' },
  problems: ['declared-only', 'name-taken'],
});
