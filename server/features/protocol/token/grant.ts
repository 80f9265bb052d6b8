// A grant of the token endpoint: a record that states its needs. The endpoint (service.ts) reads it and runs the phases, so
// that no grant can forget one: body → client → grant allowed → resources → scopes → authorize → audit → answer.
import type { z } from 'zod';
import type { By, DomainEvent } from '../../../contract/events.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { ScopeView } from '../../../domain/claims.ts';
import type { OAuthError } from '../../../http/oauth-error.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Minted } from '../../configuration/issued-tokens/mint.ts';
import type { Authenticated } from '../client-authentication/service.ts';

/** For whom the token endpoint does something, before a client is known. */
export interface GrantRequest<Body = unknown> {
  realm: string;
  ipAddress: string;
  body: Body;
}

/** A grant's input, after all decisions that are common to all grants. */
export interface GrantCall<Body = unknown, Who extends Authenticated = Authenticated> extends GrantRequest<Body> {
  settings: RealmSettingsDto;
  who: Who;
  client: ClientView;
  /** Requested and allowed; empty where none was requested. */
  resources: readonly string[];
  /** The resources that the client may have tokens for now: some may have been withdrawn since the grant. */
  presentResources(): readonly string[];
  /** The thumbprint of the key that tokens are bound to; undefined: they are bearer tokens. RFC 9449 §6.1. */
  jkt: string | undefined;
  /** Requested names; undefined where none were. */
  requestedScopes: readonly string[] | undefined;
  /** With the policy `client`, the scopes of the token; else none. */
  scopes: readonly ScopeView[];
  by: By;
}

export interface Granted extends Minted {
  refreshToken?: string;
  /** RFC 8693 §2.2.1 */
  issuedTokenType?: string;
  /** UMA 2.0 Grant §3.3.5 */
  upgraded?: true;
}
/** A decision that is no token. */
export interface Answered {
  answer: object;
}

export interface Grant<Body extends z.ZodObject = z.ZodObject, Who extends Authenticated = Authenticated> {
  grantType: string;
  /** In metrics, where that isn't the grant type. */
  label?: string;
  /** Its own parameters; all but what every grant has. */
  body: Body;
  /**
   * `proof`: the client authenticates. `any`: a client that only names itself is enough, since the presented code or token is
   * bound to it. `by`: no client authenticates, and the presented token names the client.
   */
  clientAuth: 'proof' | 'any' | { by(asking: GrantRequest<z.output<Body>>): Promise<Who> };
  /** Which clients may use it, where that isn't said by their grant types. */
  allowedTo?(client: ClientView): boolean;
  /**
   * `client`: its default scopes and the requested ones among its optional ones; there is no person, so neither `openid` nor
   * `offline_access`. `granted`: what was granted or less, as the grant's own judgement says.
   */
  scopePolicy: 'client' | 'granted';
  /** The requested ones must be allowed to the client; with `granted`, be among the granted ones too, by the grant's judgement. */
  resourcePolicy: 'client' | 'granted';
  /** Its parameter `audience` names resources, too (RFC 8693 §2.1). */
  takesAudience?: true;
  /** Whether the client acts for itself, and so may have tokens for the admin API where it holds an admin role. */
  ownBehalf(who: Who): boolean;
  /** How a refusal that it didn't record itself is recorded, where that isn't TOKEN_REFUSED; `kind`: events/refusals.ts. */
  refused?(asking: GrantRequest<z.output<Body>>, who: Who, error: OAuthError): { event: DomainEvent; kind?: string };
  authorize(call: GrantCall<z.output<Body>, Who>): Promise<Granted | Answered>;
}
