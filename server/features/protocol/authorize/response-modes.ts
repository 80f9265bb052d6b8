// The ways in which an authorization response reaches the application. OAuth 2.0 Multiple Response Types §2.1, Form Post
// Response Mode, JARM §2.3. Pure.

export type ResponseMode = 'query' | 'form_post' | 'query.jwt' | 'fragment.jwt' | 'form_post.jwt';

/** By the parameter `response_mode`. For the response type `code`, `jwt` means `query.jwt` (JARM §2.3.4). */
const modes: Readonly<Record<string, ResponseMode>> = {
  query: 'query',
  form_post: 'form_post',
  jwt: 'query.jwt',
  'query.jwt': 'query.jwt',
  'fragment.jwt': 'fragment.jwt',
  'form_post.jwt': 'form_post.jwt',
};
/** The values that discovery names. */
export const responseModes: readonly string[] = Object.keys(modes);
export const jwtResponseModes: readonly string[] = responseModes.filter((mode) => mode.endsWith('jwt'));

/** undefined: there is no such mode. */
export const responseModeOf = (named: string): ResponseMode | undefined =>
  Object.hasOwn(modes, named) ? modes[named] : undefined;

/** The mode for a response to a request that names none, or an unknown one. */
export const defaultMode = ({ requireSignedResponse }: { requireSignedResponse: boolean }): ResponseMode =>
  requireSignedResponse ? 'query.jwt' : 'query';

/** Whether the response is a JWT. */
export const isJwtMode = (mode: ResponseMode): boolean => mode.endsWith('jwt');
