// Names of fields and kinds as people read them.

/** Words that are written in capitals. */
const CAPITALS =
  /\b(url|uri|id|ttl|jwks|jwt|pkce|mfa|sms|html|css|sp|idp|acr|dn|ldap|tls|scim|saml|api|dpop|otp|sso|iss)\b/gi;
/** `redirectUris` → `Redirect URIs` */
export function labelOf(name: string): string {
  const words = name
    .replace(/Seconds$/, '')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll(CAPITALS, (word) => word.toUpperCase())
    .replaceAll(/\b(uri|url|id)s\b/g, (word) => `${word.slice(0, -1).toUpperCase()}s`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
