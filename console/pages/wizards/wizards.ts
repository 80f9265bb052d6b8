// The wizards, as the page that lists them and the shell know them.
import type { Permission } from '../../../server/contract/permissions.ts';
import type { IconName } from '../../ui/icons.tsx';
import type { ConsolePage } from '../page.ts';

export interface WizardEntry {
  path: string;
  title: string;
  help: string;
  icon: IconName;
  /** Any one is enough. */
  permissions: readonly Permission[];
  load: ConsolePage['load'];
}

export const wizards: readonly WizardEntry[] = [
  {
    path: 'application',
    title: 'Add an application',
    help: 'Web, single page, native, service, MCP client or SAML',
    icon: 'client',
    permissions: ['clients:write', 'saml-clients:write'],
    load: () => import('./application.tsx'),
  },
  {
    path: 'identity-provider',
    title: 'Connect an identity provider',
    help: 'Google, Microsoft Entra ID, Okta, GitHub, OpenID Connect or SAML',
    icon: 'idp',
    permissions: ['identity-providers:write'],
    load: () => import('./identity-provider.tsx'),
  },
  {
    path: 'messages',
    title: 'Set up messages',
    help: 'Mail, SMS and push messages, with a test',
    icon: 'mail',
    permissions: ['messaging:write'],
    load: () => import('./messages.tsx'),
  },
  {
    path: 'directory',
    title: 'Connect a directory',
    help: 'LDAP or Active Directory, with a test and the first sync',
    icon: 'org',
    permissions: ['user-federation:write'],
    load: () => import('./ldap.tsx'),
  },
  {
    path: 'scim',
    title: 'Provision by SCIM',
    help: 'Microsoft Entra ID or Okta manage users and groups',
    icon: 'plug',
    permissions: ['users:write'],
    load: () => import('./scim.tsx'),
  },
  {
    path: 'webhook',
    title: 'Add a webhook',
    help: 'Another system is told of events, with a test delivery',
    icon: 'webhook',
    permissions: ['webhooks:write'],
    load: () => import('./webhook.tsx'),
  },
  {
    path: 'workload',
    title: 'Trust a workload',
    help: 'GitHub Actions, Kubernetes, AWS or Google Cloud without a secret',
    icon: 'key',
    permissions: ['workload-identity:write'],
    load: () => import('./workload.tsx'),
  },
];
