// Azure Key Vault and its Managed HSM: data keys are wrapped by an RSA key (RSA-OAEP-256), over the REST interface.
// azurekeyvault://HOST/keys/NAME/VERSION. A wrapped key names its version, so the setting may go on to a newer one.
import { z } from 'zod';
import { loopbackHosts } from '../../contract/names.ts';
import { type Custodian, CustodianError } from '../custodian.ts';
import { azureSource } from './azure-credentials.ts';
import type { ByHttp } from './by-http.ts';
import { authorized, hostOf, keepCredential } from './credentials.ts';
import { jsonCall } from './json-call.ts';

const API = 'api-version=7.4';
const Operated = z.object({ value: z.base64url().transform((text) => Buffer.from(text, 'base64url')) });

const VERSION = /^[0-9a-zA-Z]{1,64}$/;
/** A token for these services goes to no other host. */
const SERVICE =
  /^[\w-]+\.((?:vault\.azure\.(?:net|cn)|vault\.usgovcloudapi\.net|managedhsm\.azure\.(?:net|cn)|managedhsm\.usgovcloudapi\.net))$/;

/** @throws Error that names the variable */
function azurePlace(uri: string): { address: string; resource: string; key: string; version: string } {
  const { host, hostname, pathname, search, username, port } = new URL(uri);
  const [, key, version = ''] = /^\/keys\/([\w-]+)\/(\w+)$/.exec(pathname) ?? [];
  const local = loopbackHosts.has(hostname);
  const service = local ? 'vault.azure.net' : port === '' ? SERVICE.exec(hostname)?.[1] : undefined;
  if (key === undefined || !VERSION.test(version) || service === undefined || search !== '' || username !== '')
    throw new Error(
      'SVC_KEY_CUSTODIAN: must be azurekeyvault://HOST/keys/NAME/VERSION, such as azurekeyvault://example.vault.azure.net/keys/realmkeeper/78deebed173b48e48f55abf87ed4cf71',
    );
  return { address: `${local ? 'http' : 'https'}://${host}`, resource: `https://${service}`, key, version };
}

export function openAzureKeyVault(uri: string, { config, outboundTo, now }: ByHttp): Custodian {
  const { address, resource, key, version } = azurePlace(uri);
  const source = azureSource(config, resource, now);
  const outbound = outboundTo([hostOf(address), ...source.hosts]);
  const credential = keepCredential(() => source.load(outbound), now);

  const ask = async (operation: 'wrapkey' | 'unwrapkey', by: string, value: Buffer): Promise<Buffer> => {
    const got = await authorized(
      credential,
      ({ status }) => status === 401,
      (token) =>
        jsonCall(outbound, `${address}/keys/${key}/${by}/${operation}?${API}`, {
          headers: { authorization: `Bearer ${token}` },
          body: { alg: 'RSA-OAEP-256', value: value.toString('base64url') },
          secrets: [token],
          answer: Operated,
        }),
    );
    return got.value;
  };

  return {
    // without the version: the keys that an earlier one wrapped are this custodian's too
    name: uri.slice(0, uri.lastIndexOf('/')),
    wrap: async (dataKey) =>
      Buffer.from(`${version}.${(await ask('wrapkey', version, dataKey)).toString('base64url')}`),
    async unwrap(wrapped) {
      const [by = '', value = ''] = wrapped.toString('latin1').split('.');
      if (!VERSION.test(by) || value === '')
        throw new CustodianError('what is stored as a data key has an unknown form', { away: false });
      return ask('unwrapkey', by, Buffer.from(value, 'base64url'));
    },
    close: () => outbound.close(),
  };
}
