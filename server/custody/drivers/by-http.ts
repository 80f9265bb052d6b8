// Which custodians are reached over HTTP, by the scheme of SVC_KEY_CUSTODIAN. Each is loaded if it is named.
import type { Config } from '../../config.ts';
import type { Outbound } from '../../http/outbound.ts';
import type { Custodian } from '../custodian.ts';

export interface ByHttp {
  config: Config;
  /** Requests that may reach these hosts, private or not, and public addresses. */
  outboundTo(hosts: readonly string[]): Outbound;
  now: () => Date;
}

export async function openByHttp(uri: string, deps: ByHttp): Promise<Custodian> {
  switch (new URL(uri).protocol) {
    case 'hashivault:':
    case 'openbao:':
      return (await import('./vault.ts')).openVault(uri, deps);
    case 'awskms:':
      return (await import('./aws-kms.ts')).openAwsKms(uri, deps);
    case 'gcpkms:':
      return (await import('./google-kms.ts')).openGoogleKms(uri, deps);
    case 'azurekeyvault:':
      return (await import('./azure-key-vault.ts')).openAzureKeyVault(uri, deps);
    default:
      throw new Error(`SVC_KEY_CUSTODIAN: there is no driver for ${new URL(uri).protocol}//`);
  }
}
