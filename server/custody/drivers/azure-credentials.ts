// Access tokens of Microsoft Entra ID: by workload identity (a federated token in a file), or by a managed identity, whose endpoint
// the platform names (App Service, Container Apps) or the machine's metadata service has.
import { z } from 'zod';
import type { Config } from '../../config.ts';
import type { Outbound } from '../../http/outbound.ts';
import { CustodianError } from '../custodian.ts';
import { addressIn, type Expiring, endsIn, hostOf, named, secretIn } from './credentials.ts';
import { formHeaders, jsonCall } from './json-call.ts';

const METADATA = 'http://169.254.169.254';

/** Managed identities answer with numbers as text, and App Service with the end alone, in seconds since 1970. */
const seconds = z.union([z.number(), z.string().regex(/^\d+$/)]).transform(Number);
const Token = z
  .object({ access_token: z.string().min(1), expires_in: seconds.optional(), expires_on: seconds.optional() })
  .refine(({ expires_in, expires_on }) => expires_in !== undefined || expires_on !== undefined);

export interface AzureSource {
  /** The hosts that it asks, for the guard of outbound requests. */
  hosts: readonly string[];
  load(outbound: Outbound): Promise<Expiring<string>>;
}

const fromToken = ({ access_token, expires_in, expires_on = 0 }: z.infer<typeof Token>, now: () => Date) => ({
  value: access_token,
  expires: expires_in === undefined ? new Date(expires_on * 1000) : endsIn(expires_in, now),
});

/**
 * @param resource the service that the token is for, such as https://vault.azure.net
 * @throws CustodianError that names the variable
 */
export function azureSource(config: Config, resource: string, now: () => Date): AzureSource {
  const { AZURE_FEDERATED_TOKEN_FILE: file, AZURE_CLIENT_ID: client, AZURE_TENANT_ID: tenant } = config;
  if (file !== undefined) {
    if (client === undefined || tenant === undefined)
      throw new CustodianError('AZURE_CLIENT_ID and AZURE_TENANT_ID: are needed too with AZURE_FEDERATED_TOKEN_FILE', {
        away: false,
      });
    if (!/^[\w.-]+$/.test(tenant))
      throw new CustodianError('AZURE_TENANT_ID: must be an id or a domain', { away: false });
    const authority = config.AZURE_AUTHORITY_HOST ?? 'https://login.microsoftonline.com';
    return byFederation(
      { file, client, address: `${addressIn(authority, 'AZURE_AUTHORITY_HOST')}/${tenant}` },
      resource,
      now,
    );
  }
  return byManagedIdentity(config, resource, now);
}

function byFederation(
  { file, client, address }: { file: string; client: string; address: string },
  resource: string,
  now: () => Date,
): AzureSource {
  return {
    hosts: [hostOf(address)],
    load: (outbound) =>
      named('AZURE_CLIENT_ID', async () => {
        // It is read each time: Kubernetes replaces it while the server runs.
        const assertion = await secretIn(file, 'AZURE_FEDERATED_TOKEN_FILE');
        const body = new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: client,
          scope: `${resource}/.default`,
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: assertion,
        }).toString();
        const request = { headers: formHeaders, body, secrets: [assertion] };
        return fromToken(await jsonCall(outbound, `${address}/oauth2/v2.0/token`, { ...request, answer: Token }), now);
      }),
  };
}

function byManagedIdentity(config: Config, resource: string, now: () => Date): AzureSource {
  const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: header, AZURE_CLIENT_ID: client } = config;
  const agent = { agent: true };
  const ofPlatform = endpoint !== undefined && header !== undefined;
  const url = new URL(
    ofPlatform
      ? addressIn(endpoint, 'IDENTITY_ENDPOINT', agent)
      : `${addressIn(config.AZURE_POD_IDENTITY_AUTHORITY_HOST ?? METADATA, 'AZURE_POD_IDENTITY_AUTHORITY_HOST', agent)}/metadata/identity/oauth2/token`,
  );
  url.searchParams.set('api-version', ofPlatform ? '2019-08-01' : '2018-02-01');
  url.searchParams.set('resource', resource);
  if (client !== undefined) url.searchParams.set('client_id', client);
  const headers: Record<string, string> = ofPlatform ? { 'x-identity-header': header } : { metadata: 'true' };
  const secrets = ofPlatform ? [header] : [];
  return {
    hosts: [hostOf(url.href)],
    load: (outbound) =>
      named(ofPlatform ? 'IDENTITY_ENDPOINT' : 'the managed identity', async () =>
        fromToken(await jsonCall(outbound, url.href, { method: 'GET', headers, secrets, answer: Token }), now),
      ),
  };
}
