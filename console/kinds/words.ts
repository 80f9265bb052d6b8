// Names of fields and kinds as people read them.

/** Words that are written in capitals. */
const CAPITALS =
  /\b(acr|api|ca|captcha|css|dn|dpop|html|http|id|ip|iss|json|jwks|jwt|ldap|mfa|otp|pkce|saml|scim|sms|sp|sso|tls|ttl|uri|url|uuid)\b/gi;
const WHOLE: Readonly<Record<string, string>> = {
  alg: 'algorithm',
  auth: 'authentication',
  color: 'colour',
  env: 'environment',
  idp: 'IdP',
  tos: 'terms of service',
};
/** `verify url` → `verify URL` */
export const withCapitals = (words: string): string =>
  words
    .replaceAll(CAPITALS, (word) => word.toUpperCase())
    .replaceAll(/\b(captcha|uri|url|id)s\b/g, (word) => `${word.slice(0, -1).toUpperCase()}s`);

/** `redirectUris` → `Redirect URIs` */
export function labelOf(name: string): string {
  const words = name
    .replace(/Seconds$/, '')
    .replace(/Days$/, 'InDays')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll(/\b(alg|auth|color|env|idp|tos)\b/g, (word) => WHOLE[word] ?? word);
  const label = withCapitals(words);
  return label.charAt(0).toUpperCase() + label.slice(1);
}

/** A label within a sentence: `SAML clients` and `IdP` stay, `Redirect URIs` begins small. */
export const inSentence = (label: string): string =>
  /^\p{Lu}[\p{Ll}\p{P}\d]*(\s|$)/u.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;

/** The name of one line of a list: `Redirect URIs` → `redirect URI`, `Policies` → `policy` */
export const itemName = (label: string): string => {
  const words = inSentence(label);
  if (/ies$/.test(words)) return words.replace(/ies$/, 'y');
  return words.replace(/sses$/, 'ss').replace(/([^s])s$/, '$1');
};

/** A choice as people read it: `urn:ietf:params:oauth:grant-type:device_code` → `device_code` */
export const choiceWords = (value: string): string => value.replace(/^urn:ietf:params:oauth:grant-type:/, '');

/** "Applications" would be the clients, beside which this kind stands. */
const TITLES: Readonly<Record<string, string>> = { applications: 'Apps people see' };
/** `SCIM targets`, `Workload identity`: a kind's section as a heading. */
export const sectionTitle = (section: string): string => TITLES[section] ?? labelOf(section);
