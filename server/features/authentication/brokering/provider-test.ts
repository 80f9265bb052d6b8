// Checks the settings of an identity provider for an administrator, in words: is its discovery document or metadata
// reachable, does it fit the settings. It fetches public documents alone and sends no secret. Specification 4.10.
import { X509Certificate } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  type IdentityProviderInput,
  type IdentityProviderTest,
  isProviderAddress,
  type ProviderConfig,
  testIdentityProvider,
} from '../../../contract/identity-providers.ts';
import { isLoopback } from '../../../contract/names.ts';
import { Problem } from '../../../contract/problem.ts';
import { createRateLimit } from '../../../domain/rate-limit.ts';
import { bind } from '../../../http/bind.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { OutboundError } from '../../../http/outbound-connection.ts';
import type { Resource } from '../../../resource/resource.ts';
import { XmlError } from '../../../xml/document.ts';
import { readProvider } from './saml-metadata.ts';

const LIMITS = { timeoutMs: 5_000, maxBytes: 1024 * 1024 };
const TESTS_A_MINUTE = 30;
const SOON_MS = 30 * 86_400_000;
const SERVER_ERROR = 500;
/** Of a text that the provider sent. */
const LONGEST = 200;

type Check = IdentityProviderTest['checks'][number];
interface Found {
  checks: Check[];
  found: Record<string, string>;
}

const Names = z.array(z.string()).optional().catch(undefined);
const Discovered = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: z.string().optional(),
  token_endpoint: z.string().optional(),
  userinfo_endpoint: z.string().optional(),
  jwks_uri: z.string().optional(),
  end_session_endpoint: z.string().optional(),
  response_types_supported: Names,
  scopes_supported: Names,
  code_challenge_methods_supported: Names,
  token_endpoint_auth_methods_supported: Names,
});
const Jwks = z.object({ keys: z.array(z.unknown()) });
const SigningKey = z.looseObject({ kty: z.enum(['RSA', 'EC', 'OKP']), use: z.literal('sig').optional() });

const passed = (check: Check['check'], message: string): Check => ({ check, result: 'passed', message });
const warning = (check: Check['check'], message: string): Check => ({ check, result: 'warning', message });
const failed = (check: Check['check'], message: string): Check => ({ check, result: 'failed', message });
const short = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').slice(0, LONGEST);

export interface ProviderTestDeps {
  outbound: Pick<Outbound, 'fetch'>;
  /** Identity providers as a resource. */
  of: Pick<Resource, 'fresh' | 'fieldsOf' | 'check'>;
  now: () => Date;
}

export function providerTestRoutes(app: FastifyInstance, { outbound, of, now }: ProviderTestDeps): void {
  const tests = createRateLimit({ limit: TESTS_A_MINUTE, now });

  /** @returns the body of a 200, or why there is none */
  async function fetched(url: string, accept: string): Promise<Buffer | string> {
    try {
      const { status, body } = await outbound.fetch(url, {
        headers: { accept },
        httpsOnly: !isLoopback(url),
        ...LIMITS,
      });
      return status === 200 ? body : `${url} answered ${status}`;
    } catch (error) {
      if (error instanceof OutboundError) return `${url} can't be fetched: ${error.message}`;
      throw error;
    }
  }
  async function json(url: string): Promise<{ value: unknown } | { fault: string }> {
    const body = await fetched(url, 'application/json');
    if (typeof body === 'string') return { fault: body };
    try {
      return { value: JSON.parse(body.toString()) };
    } catch {
      return { fault: `${url} answered no JSON` };
    }
  }

  async function ofOpenId({ config, scopes }: { config: ProviderConfig; scopes: readonly string[] }): Promise<Found> {
    const { issuer = '', authorizationEndpoint, tokenEndpoint } = config;
    const needsDiscovery = !(authorizationEndpoint && tokenEndpoint && config.jwksUri);
    const { checks, found } = needsDiscovery ? await discovered(issuer, config, scopes) : { checks: [], found: {} };
    const jwksUri = config.jwksUri ?? found.jwksUri;
    return { checks: [...checks, ...(jwksUri === undefined ? [] : [await keysAt(jwksUri)])], found };
  }

  async function discovered(issuer: string, config: ProviderConfig, scopes: readonly string[]): Promise<Found> {
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const answer = await json(address);
    if ('fault' in answer) return { checks: [failed('discovery', answer.fault)], found: {} };
    const { data: document } = Discovered.safeParse(answer.value);
    if (!document) return { checks: [failed('discovery', `${address} is no discovery document`)], found: {} };
    if (document.issuer !== issuer) {
      const message = `The discovery document names the issuer ${short(document.issuer)}, the settings ${issuer}: both must be the same, to the last slash`;
      return { checks: [failed('discovery', message)], found: {} };
    }
    const named = {
      authorizationEndpoint: document.authorization_endpoint,
      tokenEndpoint: document.token_endpoint,
      jwksUri: document.jwks_uri,
      userinfoEndpoint: document.userinfo_endpoint,
      endSessionEndpoint: document.end_session_endpoint,
    };
    const faults = Object.entries(named).flatMap(([field, url]): Check[] => {
      if (config[field as keyof ProviderConfig] !== undefined) return [];
      if (url !== undefined && !isProviderAddress(url))
        return [failed('discovery', `The discovery document names an address that is not https: ${short(url)}`)];
      const isNeeded = field !== 'userinfoEndpoint' && field !== 'endSessionEndpoint';
      return url === undefined && isNeeded ? [failed('discovery', `The discovery document names no ${field}`)] : [];
    });
    const found = Object.fromEntries(
      Object.entries(named).flatMap(([field, url]) =>
        url !== undefined && isProviderAddress(url) ? [[field, url]] : [],
      ),
    );
    const checks = [...faults, ...misfits(document, config, scopes)];
    const whole = checks.some(({ result }) => result === 'failed')
      ? []
      : [passed('discovery', `The discovery document is that of ${issuer}`)];
    return { checks: [...whole, ...checks], found };
  }

  async function keysAt(jwksUri: string): Promise<Check> {
    const answer = await json(jwksUri);
    if ('fault' in answer) return failed('keys', answer.fault);
    const keys = Jwks.safeParse(answer.value).data?.keys.filter((key) => SigningKey.safeParse(key).success) ?? [];
    if (keys.length === 0) return failed('keys', `${jwksUri} has no key that signs`);
    return passed(
      'keys',
      keys.length === 1 ? 'The provider publishes a key' : `The provider publishes ${keys.length} keys`,
    );
  }

  async function answers(field: string, url: string | undefined): Promise<Check[]> {
    if (url === undefined) return [];
    try {
      const { status } = await outbound.fetch(url, { httpsOnly: !isLoopback(url), excess: 'cut', ...LIMITS });
      // Without parameters it refuses the request, which shows that it is there.
      if (status < SERVER_ERROR) return [passed('endpoint', `${field} answers`)];
      return [warning('endpoint', `${field} answered ${status}`)];
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return [failed('endpoint', `${field} can't be reached: ${error.message}`)];
    }
  }

  async function ofOauth2({ config }: { config: ProviderConfig }): Promise<Found> {
    const { authorizationEndpoint, tokenEndpoint, userinfoEndpoint } = config;
    const fields = Object.entries({ authorizationEndpoint, tokenEndpoint, userinfoEndpoint });
    return { checks: (await Promise.all(fields.map(([field, url]) => answers(field, url)))).flat(), found: {} };
  }

  async function ofSaml({ config }: { config: ProviderConfig }): Promise<Found> {
    const { metadataUrl, metadataCertificate: certificate, signingCertificates } = config;
    if (metadataUrl === undefined) return { checks: certificateChecks(signingCertificates ?? []), found: {} };
    const body = await fetched(metadataUrl, 'application/samlmetadata+xml, application/xml');
    if (typeof body === 'string') return { checks: [failed('metadata', body)], found: {} };
    try {
      const read = readProvider(body, { entityId: config.entityId, certificate, now: now() });
      const [signOn] = Object.values(read.signOn);
      const [logout] = Object.values(read.logout);
      const isReachable = config.singleSignOnUrl !== undefined || signOn !== undefined;
      return {
        checks: [
          isReachable
            ? passed('metadata', `The metadata describes ${short(read.entityId)}`)
            : failed('metadata', 'The metadata names no address for sign-ins, by redirect or by POST'),
          ...certificateChecks(signingCertificates ?? read.certificates),
        ],
        found: {
          entityId: short(read.entityId),
          ...(signOn !== undefined && { singleSignOnUrl: signOn }),
          ...(logout !== undefined && { singleLogoutUrl: logout.url }),
        },
      };
    } catch (error) {
      if (error instanceof XmlError) return { checks: [failed('metadata', short(error.message))], found: {} };
      throw error;
    }
  }

  function certificateChecks(certificates: readonly string[]): Check[] {
    if (certificates.length === 0)
      return [failed('certificates', 'There is no certificate by which signatures of the provider could be checked')];
    const ends = certificates.flatMap((pem) => endOf(pem) ?? []);
    if (ends.length < certificates.length) return [failed('certificates', 'A certificate can’t be read')];
    const latest = Math.max(...ends);
    const day = new Date(latest).toISOString().slice(0, 10);
    if (latest < now().getTime()) return [warning('certificates', `The last certificate ended on ${day}`)];
    if (latest < now().getTime() + SOON_MS) return [warning('certificates', `The last certificate ends on ${day}`)];
    return [passed('certificates', `A certificate is good until ${day}`)];
  }

  async function test(realm: string, input: IdentityProviderInput): Promise<IdentityProviderTest> {
    const key = String(input.alias);
    const fields = { ...of.fresh(realm, key), ...of.fieldsOf(input) };
    const errors = of.check?.({ key, fields, path: '', changed: Object.keys(fields) }, realm) ?? [];
    if (errors.length > 0) throw new Problem('invalid-request', undefined, { errors });
    const retryAfterSeconds = tests.take(realm);
    if (retryAfterSeconds !== undefined)
      throw new Problem('too-many-requests', 'Too many tests within a minute', { retryAfterSeconds });
    const { type = 'oidc', config = {}, scopes = [] } = input;
    const by = { oidc: ofOpenId, oauth2: ofOauth2, saml: ofSaml }[type];
    const { checks, found } = await by({ config, scopes });
    return { ok: !checks.some(({ result }) => result === 'failed'), checks, found };
  }
  bind(app, testIdentityProvider, ({ params, body }) => test(params.realm, body));
}

function endOf(pem: string): number | undefined {
  try {
    return new X509Certificate(pem).validToDate.getTime();
  } catch {
    return undefined;
  }
}

/** What the provider says that it can't do, and the settings ask for. */
function misfits(document: z.infer<typeof Discovered>, config: ProviderConfig, scopes: readonly string[]): Check[] {
  const {
    response_types_supported: types,
    scopes_supported: known,
    code_challenge_methods_supported: challenges,
    token_endpoint_auth_methods_supported: methods,
  } = document;
  const { tokenEndpointAuthMethod: method, pkce } = config;
  const unknown = known ? scopes.filter((scope) => !known.includes(scope)) : [];
  return [
    ...(types && !types.some((type) => type.split(' ').includes('code'))
      ? [failed('discovery', 'The provider offers no authorization code flow')]
      : []),
    ...(unknown.length > 0
      ? [warning('discovery', `The provider does not list the scopes ${unknown.join(', ')}`)]
      : []),
    ...(challenges && pkce !== false && !challenges.includes('S256')
      ? [warning('discovery', 'The provider does not list PKCE with S256: sign-ins may need pkce: false')]
      : []),
    ...(methods && method !== undefined && !methods.includes(method)
      ? [warning('discovery', `The provider does not list the client authentication ${method}`)]
      : []),
  ];
}
