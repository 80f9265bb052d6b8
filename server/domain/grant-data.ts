// The content of a grant, stored with a code and with the refresh family that the code begins.
import type { AuthorizationDetail } from './authorization-details.ts';
import type { AskedClaims } from './claims-request.ts';
import type { Factor } from './factors.ts';

/** Stored by the authorization endpoint with a code; the code's refresh family keeps it. */
export interface GrantData {
  redirectUri: string;
  /** Names of the client scopes. */
  scopes: string[];
  openid: boolean;
  resources: string[];
  codeChallenge: string | null;
  nonce: string | null;
  authTime: number;
  acr: string;
  amr: string[];
  /** The claims that the application requested by name. */
  claims?: AskedClaims;
  /** The details of a rich authorization request (RFC 9396). */
  authorizationDetails?: readonly AuthorizationDetail[];
  /** A device approved it, without a sign-in: no flow's demands apply (OpenID Connect CIBA). */
  backchannel?: true;
  /** The tokens' `sub`, if it isn't the user's id. */
  sub?: string;
  /** The administrator who impersonates the user, with the administrator's realm. */
  act?: { realm: string; sub: string };
  /** The key that the request named beforehand (`dpop_jkt`, RFC 9449 §10). */
  dpopJkt?: string;
  /** The key that the refresh tokens are bound to. */
  jkt?: string;
  /** The certificate that they are bound to, by its thumbprint (RFC 8705 §4). */
  x5t?: string;
  /** The user's factors, if the grant outlives the session. Older versions stored only `amr`. */
  factors?: Factor[];
}
