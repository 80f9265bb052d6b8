// Owns: a realm with every way to sign in, for the walk through all pages.
// Does not own: the walk (page-walk.ts).
import { DEVICE_CODE } from '../../server/contract/oauth.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { createUser } from '../../server/contract/users.ts';
import { makeRealm } from './clients.ts';
import type { MailingServer } from './mail.ts';

const after = (authenticatorId: string) => [
  { authenticatorId: 'username-password', requirement: 'REQUIRED' as const },
  { authenticatorId, requirement: 'REQUIRED' as const },
];
const only = (authenticatorId: string) => [{ authenticatorId, requirement: 'REQUIRED' as const }];
const flows = {
  otp: after('otp'),
  webauthn: after('webauthn'),
  push: after('push'),
  'recovery-codes': after('recovery-codes'),
  'email-otp': after('email-otp'),
  'magic-link': only('magic-link'),
  qr: only('qr'),
  keys: only('webauthn'),
};
interface WalkedRealm {
  realm: string;
  locale: string;
  /** Those that it offers. */
  locales?: string[];
  callback: string;
}
/** @param callback where applications are come back to */
export async function makeWalkedRealm(
  site: MailingServer,
  { realm, locale, locales = ['en', 'de', 'ar'], callback }: WalkedRealm,
): Promise<void> {
  const application = { tokenEndpointAuthMethod: 'none' as const, redirectUris: [callback] };
  await makeRealm(site.server, realm);
  await site.sendsMail(realm);
  const user = await site.server.admin.call(createUser, { params: { realm }, body: { username: 'owner' } });
  if (user.status !== 201) throw new Error('there is no owner');
  await site.server.admin.call(importRealm, {
    params: { realm },
    body: {
      realm: {
        displayName: 'Northwind Library',
        defaultLocale: locale,
        supportedLocales: locales,
        passwordRecoveryEnabled: true,
        rememberMe: true,
        passwordRequireDigit: true,
        registrationEnabled: true,
        registrationPasskeyEnabled: true,
        termsUrl: 'https://example.com/terms',
      },
      flows: Object.entries(flows).map(([alias, executions]) => ({ alias, executions })),
      clientScopes: [
        { name: 'loans', description: 'See what you have borrowed' },
        { name: 'fines', description: null },
      ],
      clients: [
        { ...application, clientId: 'reader', name: 'Reading Room' },
        ...Object.keys(flows).map((alias) => ({
          ...application,
          clientId: alias,
          name: 'Reading Room',
          flowOverride: alias,
        })),
        {
          ...application,
          clientId: 'partner',
          name: 'Book Partner',
          consentRequired: true,
          optionalClientScopes: ['loans', 'fines'],
        },
        {
          ...application,
          clientId: 'tv',
          name: 'Living room television',
          grantTypes: [DEVICE_CODE],
          redirectUris: [],
        },
        { clientId: 'albums', secret: 'a secret of some length', redirectUris: [] },
      ],
      authorizationServices: [
        {
          clientId: 'albums',
          settings: { remoteResources: true },
          scopes: [{ name: 'view' }, { name: 'edit' }],
          resources: [{ name: 'Holiday', scopes: ['view', 'edit'], owner: 'owner', ownerManaged: true }],
        },
      ],
    },
  });
}
