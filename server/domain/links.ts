// Links in messages: their addresses, and how the sign-in that sent a link is found again. Only the message holds the secret; the
// server stores its digest.
import { sha256 } from '../crypto/tokens.ts';

/** A sign-in link. @param secret the one-time token, which the server stores as its digest */
export const linkTo = (origin: string, realm: string, secret: string): string =>
  `${origin}/realms/${realm}/login/link?token=${secret}`;

/** A password reset link; it works in any browser. */
export const resetLinkTo = (origin: string, realm: string, secret: string): string =>
  `${origin}/realms/${realm}/login/reset?token=${secret}`;

/** A link that sets up a factor or does a required action. */
export const enrolmentLinkTo = (origin: string, realm: string, secret: string): string =>
  `${origin}/realms/${realm}/login/enrol?token=${secret}`;

/** A link by which a user reports a sign-in that was not theirs. */
export const reportLinkTo = (origin: string, realm: string, secret: string): string =>
  `${origin}/realms/${realm}/login/not-me?token=${secret}`;

/** The path that sends a browser to an identity provider within its current sign-in. @param hint the username that the user typed */
export const providerPath = (realm: string, alias: string, hint?: string): string =>
  `/realms/${realm}/login/provider/${alias}${hint === undefined ? '' : `?${new URLSearchParams({ hint })}`}`;

/** An invitation link. */
export const invitationLinkTo = (origin: string, realm: string, secret: string): string =>
  `${origin}/realms/${realm}/login/invitation?token=${secret}`;

/** The digest of a link's token, base64url, as its row has it. */
export const linkDigest = (secret: string): string => sha256(`link:${secret}`).toString('base64url');
