// Identity providers by name: what each needs, and where it is registered there.
import type { ReactNode } from 'react';
import type { Row } from '../../kinds/entry.ts';
import { CopyButton } from '../../ui/code.tsx';
import { Panel } from '../../ui/page.tsx';
import { baseOf, brokerAddress, useAddresses } from './addresses.ts';
import { type Answers, type Ask, listOf, textOf, withoutEmpty } from './asks.tsx';
import type { Variant } from './create-wizard.tsx';

/** The last answers, which every provider has. */
const arrival: readonly Ask[] = [
  {
    name: 'trustEmail',
    label: 'Trust its e-mail addresses',
    help: 'On: an address from there counts as confirmed, also where the provider does not say so',
    is: 'toggle',
    at: 'config.trustEmail',
  },
  {
    name: 'domains',
    label: 'E-mail domains',
    help: 'People with such an address are sent there at once, and have no password here',
    is: 'list',
    item: 'domain',
    fresh: [],
    optional: true,
  },
];
const named = (alias: string, displayName: string): Ask[] => [
  { name: 'alias', label: 'Alias', help: 'It is part of the redirect address, and stays', fresh: alias, mono: true },
  { name: 'displayName', label: 'Name on the sign-in page', fresh: displayName },
];
const registered: readonly Ask[] = [
  { name: 'clientId', label: 'Client ID', help: 'The provider shows it after the registration', mono: true },
  { name: 'secret', label: 'Client secret', help: 'It is stored encrypted, and never shown again', is: 'secret' },
];

function RedirectAddress({ realm, alias, saml }: { realm: string; alias: string; saml?: boolean }) {
  const base = useAddresses(realm).data?.body;
  const address = brokerAddress(base ? baseOf(base) : `${location.origin}/realms/${encodeURIComponent(realm)}`, alias);
  const rows = saml
    ? [
        { name: 'Metadata of this realm', value: `${address}/descriptor` },
        { name: 'Assertion consumer service', value: address },
      ]
    : [{ name: 'Redirect address', value: address }];
  return (
    <dl className="facts">
      {rows.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="copied">
            <code>{value}</code>
            <CopyButton text={value} label={`Copy ${name}`} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

const there =
  (title: string, steps: readonly string[], saml = false) =>
  (answers: Answers, realm: string): ReactNode => (
    <Panel title={title} plain>
      <ol className="elsewhere">
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <RedirectAddress realm={realm} alias={textOf(answers, 'alias')} saml={saml} />
    </Panel>
  );

const common = (answers: Answers): Row =>
  withoutEmpty({
    alias: textOf(answers, 'alias'),
    displayName: textOf(answers, 'displayName'),
    clientId: textOf(answers, 'clientId'),
    secret: textOf(answers, 'secret'),
    domains: listOf(answers, 'domains'),
  });
const trust = (answers: Answers): Row => (answers.trustEmail === true ? { trustEmail: true } : {});

const openId = (
  id: string,
  label: string,
  help: string,
  first: Variant['steps'][number]['first'],
  asks: readonly Ask[],
  issuer: (answers: Answers) => string,
): Variant => ({
  id,
  label,
  help,
  section: 'identityProviders',
  steps: [
    {
      id: 'register',
      title: 'Register',
      asks: [...named(id === 'oidc' ? 'corporate' : id, id === 'oidc' ? 'Corporate account' : label)],
      ...(first && { first }),
    },
    { id: 'settings', title: 'Settings', asks: [...asks, ...registered, ...arrival] },
  ],
  body: (answers) => ({
    ...common(answers),
    type: 'oidc',
    scopes: ['openid', 'profile', 'email'],
    config: { ...withoutEmpty({ issuer: issuer(answers) }), ...trust(answers) },
  }),
});

/** An issuer as people type it: with https, and without a slash at its end where the provider has none. */
const host = (text: string): string => text.replace(/^https?:\/\//, '').replace(/\/+$/, '');

export const providerVariants: readonly Variant[] = [
  openId(
    'google',
    'Google',
    'Google accounts, and those of a Google Workspace',
    there('At Google', [
      'Open console.cloud.google.com, choose the project, then “APIs & Services” and “Credentials”.',
      '“Create credentials”, “OAuth client ID”, application type “Web application”.',
      'Add the redirect address below to “Authorized redirect URIs”.',
    ]),
    [],
    () => 'https://accounts.google.com',
  ),
  openId(
    'entra',
    'Microsoft Entra ID',
    'Accounts of one Entra tenant',
    there('At Microsoft Entra', [
      'Open entra.microsoft.com, then “App registrations” and “New registration”.',
      'Choose “Accounts in this organizational directory only”, and enter the redirect address below as “Web”.',
      'Under “Certificates & secrets” make a client secret. Under “Token configuration” add the optional claim email to ID tokens.',
    ]),
    [
      {
        name: 'tenant',
        label: 'Directory (tenant) ID',
        help: 'On the overview of the app registration. “common” is no issuer: take one provider for each tenant',
        at: 'config.issuer',
        placeholder: '00000000-0000-0000-0000-000000000000',
        mono: true,
      },
    ],
    (answers) =>
      textOf(answers, 'tenant') === ''
        ? ''
        : `https://login.microsoftonline.com/${encodeURIComponent(textOf(answers, 'tenant'))}/v2.0`,
  ),
  openId(
    'okta',
    'Okta',
    'Accounts of an Okta organization',
    there('At Okta', [
      'Open the admin console, then “Applications” and “Create App Integration”.',
      'Choose “OIDC”, then “Web Application”, with the grant “Authorization Code”.',
      'Enter the redirect address below as “Sign-in redirect URI”, and assign the people who may use it.',
    ]),
    [{ name: 'host', label: 'Okta domain', at: 'config.issuer', placeholder: 'acme.okta.com', mono: true }],
    (answers) => (textOf(answers, 'host') === '' ? '' : `https://${host(textOf(answers, 'host'))}`),
  ),
  {
    id: 'github',
    label: 'GitHub',
    help: 'GitHub accounts, by OAuth 2.0',
    section: 'identityProviders',
    steps: [
      {
        id: 'register',
        title: 'Register',
        asks: named('github', 'GitHub'),
        first: there('At GitHub', [
          'Open github.com/settings/developers, or the developer settings of the organization.',
          '“OAuth Apps”, “New OAuth app”. Enter the redirect address below as “Authorization callback URL”.',
          '“Generate a new client secret”.',
        ]),
      },
      { id: 'settings', title: 'Settings', asks: [...registered, ...arrival] },
    ],
    body: (answers) => ({
      ...common(answers),
      type: 'oauth2',
      scopes: ['read:user', 'user:email'],
      config: {
        authorizationEndpoint: 'https://github.com/login/oauth/authorize',
        tokenEndpoint: 'https://github.com/login/oauth/access_token',
        userinfoEndpoint: 'https://api.github.com/user',
        tokenEndpointAuthMethod: 'client_secret_post',
        ...trust(answers),
      },
    }),
  },
  openId(
    'oidc',
    'Another OpenID provider',
    'Keycloak, Auth0, Ping, another realm: any with discovery',
    there('At the provider', [
      'Register a web application with the authorization code flow.',
      'Enter the redirect address below.',
    ]),
    [
      {
        name: 'issuer',
        label: 'Issuer',
        help: 'Exactly as its discovery document says, which is at this address with /.well-known/openid-configuration',
        at: 'config.issuer',
        placeholder: 'https://id.example.com',
        mono: true,
      },
    ],
    (answers) => textOf(answers, 'issuer'),
  ),
  {
    id: 'saml',
    label: 'SAML, by its metadata',
    help: 'ADFS, Shibboleth, Entra or Okta by SAML 2.0',
    section: 'identityProviders',
    steps: [
      {
        id: 'register',
        title: 'Register',
        asks: named('saml', 'Corporate account'),
        first: there(
          'At the provider',
          [
            'Make a SAML application from this realm’s metadata. It is there once the provider is saved.',
            'Copy the address of the provider’s own metadata.',
          ],
          true,
        ),
      },
      {
        id: 'settings',
        title: 'Settings',
        asks: [
          {
            name: 'metadataUrl',
            label: 'Address of its metadata',
            at: 'config.metadataUrl',
            placeholder: 'https://id.example.com/saml/metadata',
            mono: true,
          },
          {
            name: 'certificate',
            label: 'Certificate of the metadata’s signature',
            help: 'PEM. Metadata that this key did not sign is refused',
            is: 'long',
            at: 'config.metadataCertificate',
            optional: true,
          },
          {
            name: 'signRequests',
            label: 'Sign requests',
            help: 'On, if the provider wants sign-ons to be asked for with a signature',
            is: 'toggle',
            at: 'config.signRequests',
          },
          ...arrival,
        ],
      },
    ],
    body: (answers) => ({
      ...common(answers),
      type: 'saml',
      config: {
        ...withoutEmpty({
          metadataUrl: textOf(answers, 'metadataUrl'),
          metadataCertificate: textOf(answers, 'certificate'),
        }),
        ...(answers.signRequests === true && { signRequests: true }),
        ...trust(answers),
      },
    }),
  },
];
