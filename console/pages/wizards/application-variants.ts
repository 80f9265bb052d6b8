// Kinds of applications, and the client that each needs. docs/applications.md has the same settings.
import { call } from '../../api/client.ts';
import { importSamlClient, importSamlClientFromUrl, readSamlMetadata } from '../../generated/routes.ts';
import type { Row } from '../../kinds/entry.ts';
import { type Answers, type Ask, listOf, textOf, withoutEmpty } from './asks.tsx';
import type { Variant } from './create-wizard.tsx';

const names: readonly Ask[] = [
  {
    name: 'clientId',
    label: 'Client ID',
    help: 'The application’s name in the protocol. It is unique in the realm',
    placeholder: 'shop',
    mono: true,
  },
  {
    name: 'name',
    label: 'Name',
    help: 'What people see as they sign in and as they are asked for consent',
    optional: true,
  },
];
const redirects = (help: string, placeholder: string): Ask => ({
  name: 'redirectUris',
  label: 'Redirect URIs',
  help,
  is: 'list',
  item: 'redirect URI',
  fresh: [''],
  placeholder,
});
const afterSignOut: Ask = {
  name: 'postLogoutRedirectUris',
  label: 'Addresses after signing out',
  help: 'Where people may come back to after signing out: exact',
  is: 'list',
  item: 'address',
  fresh: [],
  optional: true,
};
const consent: Ask = {
  name: 'consentRequired',
  label: 'Ask people for consent',
  help: 'On for applications of other companies: people are asked before the application learns about them',
  is: 'toggle',
};
const common = (answers: Row): Row => ({
  ...withoutEmpty({
    clientId: textOf(answers, 'clientId'),
    name: textOf(answers, 'name'),
    redirectUris: listOf(answers, 'redirectUris'),
    postLogoutRedirectUris: listOf(answers, 'postLogoutRedirectUris'),
  }),
  ...(answers.consentRequired === true && { consentRequired: true }),
});
/** These variants ask for everything at once. */
const oneStep = (asks: readonly Ask[], title = 'Settings'): Variant['steps'] => [{ id: 'settings', title, asks }];
const allowed = (help: string, label: string, item: string): Ask => ({
  name: 'allowedResources',
  label,
  help,
  is: 'list',
  item,
  fresh: [],
  optional: true,
});
const publicClient = { tokenEndpointAuthMethod: 'none', grantTypes: ['authorization_code', 'refresh_token'] };

const saved = async (answer: Promise<{ body: unknown }>): Promise<Row> => ({ ...Object((await answer).body) });

export const applicationVariants: readonly Variant[] = [
  {
    id: 'web',
    label: 'Web application',
    help: 'Its pages come from a server of yours, which keeps a secret',
    section: 'clients',
    makesSecret: true,
    steps: oneStep([
      ...names,
      redirects(
        'Where people come back to after signing in: exact. Use https, except for localhost',
        'https://shop.example.com/callback',
      ),
      afterSignOut,
      consent,
    ]),
    body: common,
  },
  {
    id: 'spa',
    label: 'Single page',
    help: 'A program in the browser without a server of its own, so without a secret',
    section: 'clients',
    steps: oneStep([
      ...names,
      redirects(
        'Where people come back to after signing in. The token endpoint answers calls from the origins of these addresses',
        'https://shop.example.com/callback',
      ),
      afterSignOut,
      consent,
    ]),
    body: (answers) => ({ ...common(answers), ...publicClient, webOrigins: ['+'] }),
  },
  {
    id: 'native',
    label: 'Native app',
    help: 'On a phone or a desktop: it signs people in by the system’s browser',
    section: 'clients',
    steps: oneStep([
      ...names,
      redirects(
        'An https link that the app has claimed, its domain reversed as a scheme with one slash, or http://127.0.0.1 at any port',
        'com.example.shop:/callback',
      ),
      {
        name: 'offline',
        label: 'Stay signed in',
        help: 'The app gets refresh tokens that outlive the session, if it asks for offline_access',
        is: 'toggle',
        fresh: true,
      },
      consent,
    ]),
    body: (answers) => ({
      ...common(answers),
      ...publicClient,
      ...(answers.offline !== true && { optionalClientScopes: [] }),
    }),
  },
  {
    id: 'service',
    label: 'Service or job',
    help: 'A program that acts for itself, without a person',
    section: 'clients',
    makesSecret: true,
    steps: oneStep([
      ...names,
      allowed(
        'Of the realm’s resource indicators (Settings, Tokens); empty: all of them',
        'APIs that it may ask tokens for',
        'API',
      ),
      {
        name: 'role',
        label: 'Realm role of its service account',
        help: 'Further roles are given on the client’s page',
        is: 'reference',
        kind: 'role',
        at: 'serviceAccountRoles',
        optional: true,
      },
    ]),
    body: (answers) => ({
      ...common(answers),
      grantTypes: ['client_credentials'],
      ...withoutEmpty({ allowedResources: listOf(answers, 'allowedResources') }),
      ...(textOf(answers, 'role') !== '' && { serviceAccountRoles: [textOf(answers, 'role')] }),
    }),
  },
  {
    id: 'mcp',
    label: 'MCP client',
    help: 'An assistant or editor that calls tools of MCP servers for a person',
    section: 'clients',
    steps: oneStep([
      ...names,
      {
        ...redirects(
          'Where the program listens after the sign-in. A loopback address matches on any port',
          'http://127.0.0.1/callback',
        ),
        fresh: ['http://127.0.0.1/callback'],
      },
      allowed(
        'Their addresses, of the realm’s resource indicators (Settings, Tokens); empty: all of them',
        'MCP servers that it may call',
        'server',
      ),
      { ...consent, fresh: true },
    ]),
    body: (answers) => ({
      ...common(answers),
      ...publicClient,
      ...withoutEmpty({ allowedResources: listOf(answers, 'allowedResources') }),
    }),
  },
  {
    id: 'saml',
    label: 'SAML application, by hand',
    help: 'You know its entity ID and where it takes assertions',
    section: 'samlClients',
    steps: oneStep([
      {
        name: 'entityId',
        label: 'Entity ID',
        help: 'The application’s documentation calls it entity ID, audience or SP issuer',
        placeholder: 'https://wiki.example.com/saml',
        mono: true,
      },
      { name: 'name', label: 'Name', help: 'What people see', optional: true },
      {
        name: 'acs',
        label: 'Assertion consumer service',
        help: 'Where assertions are sent, by POST',
        at: 'assertionConsumerServices',
        placeholder: 'https://wiki.example.com/saml/acs',
        mono: true,
      },
      {
        name: 'nameIdFormat',
        label: 'What people are called',
        help: 'Where a request doesn’t say',
        is: 'choice',
        fresh: 'persistent',
        options: [
          { id: 'persistent', label: 'A name of this application’s own', help: 'persistent' },
          { id: 'emailAddress', label: 'Their e-mail address', help: 'emailAddress' },
          { id: 'transient', label: 'Another name at each sign-in', help: 'transient' },
          { id: 'unspecified', label: 'Unspecified', help: 'unspecified' },
        ],
      },
      {
        name: 'mail',
        label: 'Send name and address',
        help: 'Assertions have the attributes email, firstName and lastName',
        is: 'toggle',
        fresh: true,
      },
      {
        name: 'idpInitiated',
        label: 'People may begin here',
        help: 'On: they may come to the application without a request of its own',
        is: 'toggle',
      },
      {
        name: 'certificate',
        label: 'Certificate of its signatures',
        help: 'PEM. With one, requests without its signature are refused',
        is: 'long',
        at: 'signingCertificates',
        optional: true,
      },
    ]),
    body: (answers) => ({
      ...withoutEmpty({
        entityId: textOf(answers, 'entityId'),
        name: textOf(answers, 'name'),
        nameIdFormat: textOf(answers, 'nameIdFormat'),
      }),
      assertionConsumerServices: textOf(answers, 'acs') === '' ? [] : [{ url: textOf(answers, 'acs') }],
      ...(answers.idpInitiated === true && { idpInitiated: true }),
      ...(answers.mail === true && {
        mappers: ['email', 'firstName', 'lastName'].map((name) => ({ name, source: 'property', attribute: name })),
      }),
      ...(textOf(answers, 'certificate') !== '' && {
        signingCertificates: [textOf(answers, 'certificate')],
        requireSignedRequests: true,
      }),
    }),
  },
  {
    id: 'saml-metadata',
    label: 'SAML application, by its metadata',
    help: 'It has a metadata file or address, which says everything',
    section: 'samlClients',
    steps: oneStep(
      [
        {
          name: 'from',
          label: 'Metadata',
          is: 'choice',
          fresh: 'address',
          options: [
            { id: 'address', label: 'At an https address', help: 'The server reads it again each hour' },
            { id: 'xml', label: 'As XML' },
          ],
        },
        {
          name: 'metadataUrl',
          label: 'Address',
          placeholder: 'https://crm.example.com/saml/metadata',
          mono: true,
          when: ({ from }) => from !== 'xml',
        },
        {
          name: 'metadata',
          label: 'XML',
          is: 'long',
          placeholder: '<EntityDescriptor …>',
          when: ({ from }) => from === 'xml',
        },
        {
          name: 'certificate',
          label: 'Certificate of its signature',
          help: 'PEM. Metadata that this key did not sign is refused',
          is: 'long',
          optional: true,
        },
      ],
      'Metadata',
    ),
    body: () => ({}),
    preview: async (realm, answers) =>
      (await call(readSamlMetadata, { params: { realm }, body: metadataOf(answers) })).body?.client ?? {},
    save: (realm, answers) => {
      const { metadata, metadataUrl, ...chosen } = metadataOf(answers);
      return saved(
        metadata === undefined
          ? call(importSamlClientFromUrl, { params: { realm }, body: { metadataUrl: metadataUrl ?? '', ...chosen } })
          : call(importSamlClient, { params: { realm }, body: { metadata, ...chosen } }),
      );
    },
  },
];

/** The metadata as the API takes it. */
function metadataOf(answers: Answers): { metadata?: string; metadataUrl?: string; certificate?: string } {
  const certificate = textOf(answers, 'certificate');
  return {
    ...(answers.from === 'xml'
      ? { metadata: textOf(answers, 'metadata') }
      : { metadataUrl: textOf(answers, 'metadataUrl') }),
    ...(certificate !== '' && { certificate }),
  };
}
