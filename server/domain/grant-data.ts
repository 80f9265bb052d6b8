// What people granted, as it is kept with a code and with the refresh family that the code begins.
import type { AskedClaims } from './claims-request.ts';
import type { Factor } from './factors.ts';

/** What the authorization endpoint keeps with a code, and a family with it. */
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
  /** What the application asked for by name. */
  claims?: AskedClaims;
  /** Whom its tokens are about, where that isn't the person's id. */
  sub?: string;
  /** Who acts for the person: an administrator of that realm. */
  act?: { realm: string; sub: string };
  /** The key that the request named beforehand (`dpop_jkt`, RFC 9449 §10). */
  dpopJkt?: string;
  /** The key that the refresh tokens are bound to. */
  jkt?: string;
  /** What the person had proven, where the grant outlives their session. Older versions kept `amr` alone. */
  factors?: Factor[];
}
