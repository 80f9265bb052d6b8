// How well-known OAuth 2.0 providers without OpenID Connect say who a user is: their userinfo as claims of OpenID Connect.
// Each is recognised by the shape of its answer, so that a self-hosted one is, too. Pure.
import { isObject } from '../../../contract/json.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** The claims that a shape adds; an absent claim stays as the provider has it. */
interface Said {
  sub?: unknown;
  email?: unknown;
  /** Only if the provider says so of this very address. */
  email_verified?: unknown;
  preferred_username?: unknown;
  name?: unknown;
  given_name?: unknown;
  family_name?: unknown;
}
/** Reads the claims; undefined: the answer is of another shape. */
type Shape = (body: Claims) => Said | undefined;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const onlyOne = (list: unknown): Claims | undefined =>
  Array.isArray(list) && list.length === 1 && isObject(list[0]) ? list[0] : undefined;

/** One address of a list that the provider answers beside the user. */
interface Address {
  email: string;
  primary: boolean;
  verified: boolean;
}
/** GitHub's substitutes receive no mail. */
const isSubstitute = (email: string): boolean => /@users\.noreply\.[^@]+$/i.test(email);

/** GitHub and Gitea answer a list, Bitbucket one in `values`; PayPal has it in the user. */
function addressesIn(list: unknown): Address[] {
  const all = isObject(list) ? list.values : list;
  return (Array.isArray(all) ? all : []).filter(isObject).flatMap((one) => {
    const email = one.email ?? one.value;
    if (!isText(email) || isSubstitute(email)) return [];
    const primary = one.primary ?? one.is_primary;
    const verified = one.verified ?? one.is_confirmed ?? one.confirmed;
    return [{ email, primary: primary === true, verified: verified === true }];
  });
}

/**
 * The address that counts: the primary one if it is verified, else another verified one, else the primary one.
 * @param shown the address in the user's own answer; it counts, and the list says whether it is verified
 */
export function addressAmong(list: unknown, shown?: unknown): Said {
  const all = addressesIn(list);
  if (isText(shown) && !isSubstitute(shown)) {
    const own = all.find(({ email }) => email.toLowerCase() === shown.toLowerCase());
    return own ? { email_verified: own.verified } : {};
  }
  const verified = all.filter((one) => one.verified);
  const found = verified.find(({ primary }) => primary) ?? verified[0] ?? all.find(({ primary }) => primary) ?? all[0];
  return found ? { email: found.email, email_verified: found.verified } : {};
}

const BITBUCKET_UUID = /^\{[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}$/i;
/** A user without an Atlassian account has no `account_id`. Then only the form of the `uuid`, in braces, tells Bitbucket. */
const isBitbucket = ({ type, account_id, uuid }: Claims): boolean =>
  type === 'user' && isText(uuid) && (isText(account_id) || BITBUCKET_UUID.test(uuid));

const shapes: Readonly<Record<string, Shape>> = {
  Bitbucket: (body) =>
    isBitbucket(body)
      ? {
          sub: isText(body.account_id) ? body.account_id : body.uuid,
          preferred_username: body.username,
          name: body.display_name,
        }
      : undefined,
  Atlassian: ({ account_type, account_id }) =>
    isText(account_type) && isText(account_id) ? { sub: account_id } : undefined,
  Amazon: ({ user_id }) => (isText(user_id) && user_id.startsWith('amzn1.') ? { sub: user_id } : undefined),
  PayPal: ({ user_id, emails }) =>
    isText(user_id) && Array.isArray(emails) ? { sub: user_id, ...addressAmong(emails) } : undefined,
  LINE: ({ userId, displayName }) =>
    isText(userId) && isText(displayName) ? { sub: userId, name: displayName } : undefined,
  'WordPress.com': ({ ID, username }) => (Number.isSafeInteger(ID) && isText(username) ? { sub: ID } : undefined),
  X: ({ data }) => {
    if (!isObject(data) || !isText(data.id) || !isText(data.username)) return undefined;
    const { id, username, name, confirmed_email: email } = data;
    const mail = isText(email) ? { email, email_verified: true } : {};
    return { sub: id, preferred_username: username, name, ...mail };
  },
  Twitch: ({ data }) => {
    const user = onlyOne(data);
    if (!isText(user?.id) || !isText(user.login)) return undefined;
    return { sub: user.id, preferred_username: user.login, name: user.display_name, email: user.email };
  },
  // An id is unique in its workspace.
  Slack: ({ ok, user, team }) =>
    ok === true && isObject(user) && isText(user.id) && isObject(team) && isText(team.id)
      ? { sub: `${team.id}.${user.id}`, name: user.name, email: user.email }
      : undefined,
  Naver: ({ resultcode, response }) =>
    resultcode === '00' && isObject(response) && isText(response.id)
      ? { sub: response.id, name: response.name ?? response.nickname, email: response.email }
      : undefined,
  Nextcloud: ({ ocs }) => {
    const data = isObject(ocs) ? ocs.data : undefined;
    if (!isObject(data) || !isText(data.id)) return undefined;
    const name = data.displayname ?? data['display-name'];
    return { sub: data.id, preferred_username: data.id, name, email: data.email };
  },
  Kakao: ({ id, kakao_account: account }) => {
    if (!Number.isSafeInteger(id) || !isObject(account)) return undefined;
    const { email, is_email_valid: valid, is_email_verified: verified, profile } = account;
    const said = isText(email) ? { email, email_verified: valid === true && verified === true } : {};
    return { name: isObject(profile) ? profile.nickname : undefined, ...said };
  },
  Discord: ({ id, discriminator, username, global_name, verified }) =>
    isText(id) && isText(discriminator) && isText(username)
      ? { preferred_username: username, name: global_name, email_verified: verified === true }
      : undefined,
  'Google, before OpenID Connect': ({ id, verified_email }) =>
    isText(id) && typeof verified_email === 'boolean' ? { email_verified: verified_email } : undefined,
  // Its addresses are the tenant's to write, so they are not verified.
  'Microsoft Graph': ({ id, userPrincipalName, mail, givenName, surname, displayName }) =>
    isText(id) && isText(userPrincipalName)
      ? {
          preferred_username: userPrincipalName,
          email: mail,
          given_name: givenName,
          family_name: surname,
          name: displayName,
        }
      : undefined,
};

/** Names that providers have for a claim; none of them says who the user is, or that an address is verified. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  preferred_username: ['login', 'username'],
  given_name: ['first_name', 'firstname', 'localizedFirstName'],
  family_name: ['last_name', 'lastname', 'localizedLastName'],
  name: ['full_name', 'display_name', 'displayName', 'real_name'],
  email: ['default_email'],
};

const isSaid = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
const saidOf = (claims: Claims): Record<string, unknown> =>
  Object.fromEntries(Object.entries(claims).filter(([, value]) => isSaid(value)));

/** Claims of OpenID Connect beside what the provider has said. Its own claims come first: `sub`, or else `id`. */
export function claimsOf(body: Claims): Claims {
  const own = saidOf(body);
  const found = Object.values(shapes).flatMap((read) => read(body) ?? []);
  // An answer that could be of two providers is taken for none of them.
  const [shape = {}] = found.length === 1 ? found : [];
  const { sub, email_verified, ...said }: Record<string, unknown> = saidOf({ ...shape });
  const ofNames = Object.fromEntries(
    Object.entries(synonyms).flatMap(([claim, names]) => {
      const name = names.find((one) => isText(body[one]));
      return name === undefined ? [] : [[claim, body[name]]];
    }),
  );
  const claims: Record<string, unknown> = { ...body, ...ofNames, ...said, ...own, sub: body.sub ?? body.id ?? sub };
  // The shape's sign of verification belongs to the shape's address, not to another one.
  const isOfIt = said.email === undefined || said.email === claims.email;
  if (!isSaid(claims.email_verified) && email_verified !== undefined && isOfIt) claims.email_verified = email_verified;
  return claims;
}

/** The address of the list of the user's addresses, beside `…/user` of GitHub, Gitea and Bitbucket. */
export function addressesEndpoint(endpoint: string, body: Claims): string | undefined {
  const url = new URL(endpoint);
  const hasList = isBitbucket(body) || (isText(body.login) && Number.isSafeInteger(body.id));
  if (isSaid(body.email_verified) || !hasList || !/\/user\/?$/.test(url.pathname)) return undefined;
  url.pathname = `${url.pathname.replace(/\/$/, '')}/emails`;
  return url.href;
}
