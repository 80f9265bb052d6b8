// Links that finish a sign-in which asked for them: what they lead to, and how the sign-in is found again. The secret is in the
// message alone; what is kept is its digest.
import { sha256 } from '../crypto/tokens.ts';

export const linkTo = (origin: string, realm: string, secret: string): string =>
  `${origin}/realms/${realm}/login/link?token=${secret}`;

/** A link that leads somewhere by itself, in whichever browser. */
export const resetLinkTo = (origin: string, realm: string, secret: string): string =>
  `${origin}/realms/${realm}/login/reset?token=${secret}`;

export const enrolmentLinkTo = (origin: string, realm: string, secret: string): string =>
  `${origin}/realms/${realm}/login/enrol?token=${secret}`;

export const reportLinkTo = (origin: string, realm: string, secret: string): string =>
  `${origin}/realms/${realm}/login/not-me?token=${secret}`;

/** What sends a browser to an identity provider, in the sign-in that it has under way. @param hint who they say they are */
export const providerPath = (realm: string, alias: string, hint?: string): string =>
  `/realms/${realm}/login/provider/${alias}${hint === undefined ? '' : `?${new URLSearchParams({ hint })}`}`;

export const invitationLinkTo = (origin: string, realm: string, secret: string): string =>
  `${origin}/realms/${realm}/login/invitation?token=${secret}`;

export const linkDigest = (secret: string): string => sha256(`link:${secret}`).toString('base64url');
