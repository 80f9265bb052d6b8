// Links in messages: their addresses, and how the sign-in that sent a link is found again. Only the message holds the secret; the
// server stores its digest.
import { sha256 } from '../crypto/tokens.ts';

export const linkTo = (origin: string, realm: string, secret: string): string =>
  `${origin}/realms/${realm}/login/link?token=${secret}`;

/** A password reset link; it works in any browser. */
export const resetLinkTo = (origin: string, realm: string, secret: string): string =>
  `${origin}/realms/${realm}/login/reset?token=${secret}`;

export const enrolmentLinkTo = (origin: string, realm: string, secret: string): string =>
  `${origin}/realms/${realm}/login/enrol?token=${secret}`;

export const reportLinkTo = (origin: string, realm: string, secret: string): string =>
  `${origin}/realms/${realm}/login/not-me?token=${secret}`;

/** The path that sends a browser to an identity provider within its current sign-in. @param hint the username that the user typed */
export const providerPath = (realm: string, alias: string, hint?: string): string =>
  `/realms/${realm}/login/provider/${alias}${hint === undefined ? '' : `?${new URLSearchParams({ hint })}`}`;

export const invitationLinkTo = (origin: string, realm: string, secret: string): string =>
  `${origin}/realms/${realm}/login/invitation?token=${secret}`;

export const linkDigest = (secret: string): string => sha256(`link:${secret}`).toString('base64url');
