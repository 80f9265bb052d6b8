// The errors of OAuth endpoints: the vocabulary of RFC 6749 §4.1.2.1 and §5.2, OIDC Core §3.1.2.6, RFC 6750 §3.1, RFC 8707.
// http/oauth.ts (JSON) and http/oauth-pages.ts (a page) render them. Decisions "Errors".
import { inEnglish, type Words } from '../contract/phrases.ts';

const oauthErrors = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_scope: 400,
  invalid_target: 400,
  invalid_authorization_details: 400,
  invalid_resource_id: 400,
  need_info: 403,
  request_denied: 403,
  request_submitted: 403,
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
  access_denied: 403,
  login_required: 400,
  interaction_required: 400,
  consent_required: 400,
  unmet_authentication_requirements: 400,
  insufficient_user_authentication: 400,
  request_not_supported: 400,
  request_uri_not_supported: 400,
  invalid_request_uri: 400,
  invalid_request_object: 400,
  registration_not_supported: 400,
  invalid_binding_message: 400,
  expired_login_hint_token: 400,
  missing_user_code: 400,
  invalid_user_code: 400,
  invalid_token: 401,
  insufficient_scope: 403,
  not_found: 404,
  invalid_dpop_proof: 400,
  use_dpop_nonce: 400,
  authorization_pending: 400,
  expired_token: 400,
  slow_down: 429,
  server_error: 500,
  temporarily_unavailable: 503,
} as const;

export type OAuthErrorCode = keyof typeof oauthErrors;

/** Texts for the error page that users see, besides those that follow from the code. */
export interface PersonsPage {
  /** The error's description in the request's language. */
  told?: string;
  /** The application that sent the user here. */
  back?: { title: string; homeUrl: string | null } | undefined;
}

/** `description` is public; `reason` and `cause` go only to the log and the audit log. */
export class OAuthError extends Error {
  readonly error: OAuthErrorCode;
  readonly description: string | undefined;
  /** The description before it was put into English: a page translates it. */
  readonly words: Words | undefined;
  readonly reason: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly status: number;
  /** The audit row was written already, with the changed state. */
  readonly audited: boolean;
  readonly page: PersonsPage;
  /** Further fields of the response. */
  readonly more: Readonly<Record<string, unknown>>;
  /** The refused client, as the request named it: for the log and the audit log. */
  clientId: string | undefined;
  constructor(
    error: OAuthErrorCode,
    words?: Words,
    more: {
      reason?: string;
      cause?: unknown;
      retryAfterSeconds?: number;
      audited?: boolean;
      status?: number;
      page?: PersonsPage;
      more?: Readonly<Record<string, unknown>>;
    } = {},
  ) {
    const description = words === undefined ? undefined : inEnglish(words);
    super(description ?? error, { cause: more.cause });
    this.error = error;
    this.description = description;
    this.words = words;
    this.reason = more.reason;
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.audited = more.audited ?? false;
    this.status = more.status ?? oauthErrors[error];
    this.page = more.page ?? {};
    this.more = more.more ?? {};
  }
}

/** Makes a client's text safe for the log: cut to a length, and only plain characters. */
export const loggableText = (text: string | undefined, most: number): string | undefined =>
  text?.slice(0, most).replace(/[^\x20-\x7e]/g, '?');
