// Parameters of OAuth requests, from a query or a form body. RFC 6749 §3.1 and §3.2: no parameter occurs twice, and an
// empty one counts as absent.
import { OAuthError } from './oauth-error.ts';

/** Only these may come several times (RFC 8707 §2, RFC 8693 §2.1; `permission` asks for several at once). */
export const REPEATABLE_PARAMETERS: ReadonlySet<string> = new Set(['resource', 'audience', 'permission']);

/** Reads one parameter; `all` gives a repeatable one's values. */
export interface Form {
  get(name: string): string | undefined;
  all(name: string): string[];
  /** The unparsed text, for storing a request during a sign-in. */
  text: string;
}

/** @throws OAuthError `invalid_request` for a parameter that occurs twice, or text that can't be stored (NUL) */
export function parseForm(text: string): Form {
  const params = new URLSearchParams(text);
  const seen = new Set<string>();
  for (const [name, value] of params) {
    if (seen.has(name) && !REPEATABLE_PARAMETERS.has(name))
      throw new OAuthError('invalid_request', 'A parameter comes twice');
    if (value.includes('\0')) throw new OAuthError('invalid_request', 'A parameter holds a NUL character');
    seen.add(name);
  }
  return {
    get: (name) => params.get(name) || undefined,
    all: (name) => params.getAll(name).filter((value) => value !== ''),
    text,
  };
}

/** The query of a request's URL, unparsed. */
export function queryOf(url: string): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1);
}
