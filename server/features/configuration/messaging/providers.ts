// Owns: the messaging provider as a resource: the same by the admin API and in the realm document.
// Does not own: sending (delivery.ts), the drivers (drivers/).
// Implements: specification 2.5, 4.4; decisions "Messaging".
import { createPrivateKey } from 'node:crypto';
import { isEmail } from '../../../contract/email.ts';
import {
  Channel,
  DriverName,
  driverConfigs,
  driversOf,
  FcmServiceAccount,
  sendsSecretBy,
} from '../../../contract/message-drivers.ts';
import { messagingProviders } from '../../../contract/messaging.ts';
import type { FieldError } from '../../../contract/problem.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { sealed } from '../../../resource/at-rest.ts';
import { declaredResource, type ResourceDeps, sealedAs } from '../../../resource/declared.ts';
import { issuesAt } from '../../../resource/items.ts';
import type { Fields, Item, Saved } from '../../../resource/part.ts';
import { splitKey } from '../../../resource/table.ts';
import { readersOf } from './readers.ts';

export const providerSecret = (seal: Seal) => sealed(seal, sealedAs(messagingProviders.kind));

const MAX_CONFIG_BYTES = 32_768;

function sentTo({ key, fields: { config } }: Pick<Item, 'key' | 'fields'>): Fields {
  const driver = DriverName.parse(splitKey(key, 2)[1]);
  const said: Fields = Object(config);
  return { driver, ...Object.fromEntries(sendsSecretBy[driver].map((field) => [`config.${field}`, said[field]])) };
}

function check({ key, fields, changed }: Saved): FieldError[] {
  const [channelName, driverName] = splitKey(key, 2);
  const channel = Channel.parse(channelName);
  const driver = DriverName.parse(driverName);
  const drivers = driversOf[channel];
  if (!drivers.includes(driver)) return [{ path: 'driver', message: `must be ${drivers.join(' or ')} for ${channel}` }];
  const { config, secret, fromAddress } = fields;
  if (JSON.stringify(config).length > MAX_CONFIG_BYTES) return [{ path: 'config', message: 'is too large' }];
  const { error } = driverConfigs[driver].safeParse(config);
  const faults = error ? issuesAt('config', error) : [];
  if (channel === 'EMAIL' && typeof fromAddress === 'string' && !isEmail(fromAddress))
    faults.push({ path: 'fromAddress', message: 'must be an e-mail address' });
  if (changed.includes('secret') && typeof secret === 'string') {
    const wrong = secretFault(driver, secret);
    if (wrong) faults.push({ path: 'secret', message: wrong });
  }
  return faults;
}

/** Settings that the provider needs before it can send; they may be set later. */
function unready({ key, fields: { config, fromAddress, secret } }: Pick<Item, 'key' | 'fields'>) {
  const { username, messagingServiceSid }: Fields = Object(config);
  const [, driver] = splitKey(key, 2);
  if (driver === 'smtp' && username !== undefined && secret === null)
    return [{ key, message: 'has a username and no secret, and sends nothing before it is set' }];
  if (driver === 'twilio' && !fromAddress && messagingServiceSid === undefined)
    return [{ key, message: 'has no sender: set fromAddress, or messagingServiceSid in config' }];
  return [];
}

/** Finds unusable keys when they are set, before the first message. */
function secretFault(driver: DriverName, secret: string): string | undefined {
  if (driver === 'fcm') {
    const account = FcmServiceAccount.safeParse(parsedJson(secret)).data;
    if (!account) return 'must be the JSON key file of a service account';
    if (keyKind(account.private_key) !== 'rsa') return 'has a private_key that is no RSA key';
  }
  if (driver === 'apns' && keyKind(secret) !== 'ec prime256v1')
    return 'must be the key as it was downloaded (.p8): beginning with -----BEGIN PRIVATE KEY-----, of the curve P-256';
  return undefined;
}
/** `rsa`, `ec prime256v1`; undefined: the text is no private key in PKCS #8. */
function keyKind(pem: string): string | undefined {
  if (!pem.trim().startsWith('-----BEGIN PRIVATE KEY-----')) return undefined;
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem.trim());
    return [asymmetricKeyType, asymmetricKeyDetails?.namedCurve].filter((part) => part !== undefined).join(' ');
  } catch {
    return undefined;
  }
}
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const messagingProvidersResource = (deps: ResourceDeps) =>
  declaredResource(
    messagingProviders,
    {
      check,
      warnings: async (_, __, objects) => objects.flatMap(unready),
      sentTo,
      signsInAs: readersOf,
      // The configuration stays out of the audit log: it may hold addresses with keys in them.
      detail: ({ enabled, fromAddress }) => ({ enabled, fromAddress }),
    },
    deps,
  );
