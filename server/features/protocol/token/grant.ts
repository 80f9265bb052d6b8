// A grant of the token endpoint: a record that states its needs. The endpoint (service.ts) reads it and runs the phases, so
// that no grant can forget one: body → client → grant allowed → resources → scopes → authorize → audit → answer.
import type { z } from 'zod';
import type { By, DomainEvent } from '../../../contract/events.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { AuthorizationDetail } from '../../../domain/authorization-details.ts';
import type { ScopeView } from '../../../domain/claims.ts';
import type { Confirmation, Sender } from '../../../domain/sender.ts';
import type { Form } from '../../../http/form.ts';
import type { OAuthError } from '../../../http/oauth-error.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Minted } from '../../configuration/issued-tokens/mint.ts';
import type { Authenticated } from '../client-authentication/service.ts';

/** A token request before its grant is known. */
export interface AskedGrant {
  realm: string;
  form: Form;
  /** The header `Authorization`. */
  authorization: string | undefined;
}

/** A token request before its client is known. */
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
  /** The resources that were requested and are allowed; empty: none was requested. */
  resources: readonly string[];
  /** The resources that the client may have tokens for now: some may have been withdrawn since the grant. */
  presentResources(): readonly string[];
  /** The requested details, which conform to their types (RFC 9396); undefined: none were requested. */
  details: readonly AuthorizationDetail[] | undefined;
  /** What the request proves of its sender. */
  sender: Sender;
  /** The keys that its tokens are bound to; undefined: they are bearer tokens. */
  cnf: Confirmation | undefined;
  /** The requested names; undefined: none were requested. */
  requestedScopes: readonly string[] | undefined;
  /** With the policy `client`, the scopes of the token; otherwise none. */
  scopes: readonly ScopeView[];
  by: By;
}

export interface Granted extends Minted {
  refreshToken?: string;
  /** RFC 8693 §2.2.1 */
  issuedTokenType?: string;
  /** UMA 2.0 Grant §3.3.5 */
  upgraded?: true;
  /** RFC 8693 §2.2.1: the answer's token is no access token. */
  tokenType?: 'N_A';
}
/** A response that is no token. */
export interface Answered {
  answer: object;
}

export interface Grant<Body extends z.ZodObject = z.ZodObject, Who extends Authenticated = Authenticated> {
  grantType: string;
  /** Several grants can have one type: the first that the request is for. Absent: each request is for it. */
  appliesTo?(request: AskedGrant): boolean | Promise<boolean>;
  /** The label in metrics, if it isn't the grant type. */
  label?: string;
  /** The grant's own parameters, without those that every grant has. */
  body: Body;
  /**
   * `proof`: the client authenticates. `any`: a client that only names itself is enough, since the presented code or token is
   * bound to it. `by`: no client authenticates, and the presented token names the client.
   */
  clientAuth: 'proof' | 'any' | { by(asking: GrantRequest<z.output<Body>>): Promise<Who> };
  /** Which clients may use the grant, if their grant types don't decide it. */
  allowedTo?(client: ClientView): boolean;
  /**
   * `client`: the client's default scopes, and the requested ones among its optional scopes. There is no user, so
   * neither `openid` nor `offline_access`. `granted`: the granted scopes or fewer, as the grant itself decides.
   */
  scopePolicy: 'client' | 'granted';
  /**
   * The client must be allowed to use the requested resources; with `granted`, the grant also checks that they were
   * granted. `elsewhere`: the resources are another domain's, and the grant alone decides.
   */
  resourcePolicy: 'client' | 'granted' | 'elsewhere';
  /** The parameter `audience` names resources, too (RFC 8693 §2.1). */
  takesAudience?: true;
  /** The request may contain `authorization_details`; a grant without this refuses it. */
  takesDetails?: true;
  /** Whether the client acts for itself. Then it gets tokens for the admin API if it holds an admin role. */
  ownBehalf(who: Who): boolean;
  /**
   * The event for a refusal that the grant didn't record itself, if it isn't TOKEN_REFUSED; `kind`: events/refusals.ts.
   */
  refused?(asking: GrantRequest<z.output<Body>>, who: Who, error: OAuthError): { event: DomainEvent; kind?: string };
  authorize(call: GrantCall<z.output<Body>, Who>): Promise<Granted | Answered>;
}
