// Realm documents of earlier builds in today's words, so that every export and manifest can be read again. Pure; what it does not
// know stays as it is, and the schema of today judges it. Specification 9; docs/import-export.md "Documents of earlier versions".
//
// - clientScopes[].claims held definitions. Now they are names of claims, which are a section of their own.
// - messageTemplates[] had no locale (specification 2.6). The importer takes such a template as one in the realm's default language.

import { z } from 'zod';
import { type ClaimInput, type ClaimPlace, claimFields } from './claims.ts';
import { isObject } from './json.ts';
import { DEFAULT_LANGUAGE } from './message-templates.ts';

const EarlierClaim = z.strictObject({
  name: z.string(),
  source: z.enum([
    'attribute',
    'username',
    'email',
    'emailVerified',
    'firstName',
    'lastName',
    'fullName',
    'locale',
    'groups',
    'roles',
    'constant',
  ]),
  value: z.string().optional(),
  accessToken: z.boolean().optional(),
  idToken: z.boolean().optional(),
  userinfo: z.boolean().optional(),
});
type Definition = Omit<ClaimInput, 'name' | 'claim'>;

function definitionOf({ name, source, value, ...where }: z.infer<typeof EarlierClaim>): Definition {
  const { accessToken = false, idToken = false, userinfo = true } = where;
  const places: [ClaimPlace, boolean][] = [
    ['accessToken', accessToken],
    ['idToken', idToken],
    ['userinfo', userinfo],
  ];
  const found = places.flatMap(([place, holds]) => (holds ? [place] : []));
  const ofAttribute = (attribute: string): Definition => ({
    source: 'attribute',
    attribute,
    jsonType: attribute.endsWith('_verified') ? 'boolean' : 'string',
    in: found,
  });
  switch (source) {
    case 'attribute':
      return ofAttribute(value ?? name);
    case 'locale':
      return ofAttribute(value ?? 'locale');
    case 'roles':
      return { source: name === 'resource_access' ? 'clientRoles' : 'roles', in: found };
    case 'groups':
      return { source, in: found };
    case 'constant':
      return { source, value: value ?? '', in: found };
    default:
      return { source: 'property', attribute: source, in: found };
  }
}

/** An element in today's words, and the claims that it defined, each with its place in the element. */
export interface Converted {
  element: unknown;
  claims: readonly { claim: ClaimInput; path: string }[];
}
const LONGEST_NAME = claimFields.claim.unwrap().maxLength ?? 255;

/**
 * Converts the elements of one document, in their order. The same definition in two scopes becomes one claim. Another
 * definition of the same claim gets a name of its own (`<claim> #2`), as in the database when it was converted.
 */
export function createEarlierDocument() {
  /** Definitions by the claim that they define. */
  const defined = new Map<string, string[]>();

  /** The name of the claim with this definition; `isNew`: no scope before had it. */
  function nameOf(claim: string, definition: Definition): { name: string; isNew: boolean } {
    const text = JSON.stringify(definition);
    const before = defined.get(claim) ?? [];
    const at = before.indexOf(text);
    const rank = at < 0 ? before.push(text) : at + 1;
    defined.set(claim, before);
    const sign = ` #${rank}`;
    return { name: rank === 1 ? claim : claim.slice(0, LONGEST_NAME - sign.length) + sign, isNew: at < 0 };
  }

  function scope(element: Readonly<Record<string, unknown>>, listed: readonly unknown[]): Converted {
    const claims: { claim: ClaimInput; path: string }[] = [];
    const names = listed.map((one, i) => {
      const earlier = EarlierClaim.safeParse(one);
      if (!earlier.success) return one;
      const definition = definitionOf(earlier.data);
      const { name: of } = earlier.data;
      const { name, isNew } = nameOf(of, definition);
      if (isNew)
        claims.push({ claim: { name, ...(name !== of && { claim: of }), ...definition }, path: `claims[${i}]` });
      return name;
    });
    return { element: { ...element, claims: names }, claims };
  }

  return (section: string, element: unknown): Converted => {
    if (!isObject(element)) return { element, claims: [] };
    if (section === 'clientScopes' && Array.isArray(element.claims)) return scope(element, element.claims);
    if (section === 'messageTemplates' && !Object.hasOwn(element, 'locale'))
      return { element: { ...element, locale: DEFAULT_LANGUAGE }, claims: [] };
    return { element, claims: [] };
  };
}

/** A whole document, or the sections of a Realm resource, in today’s words. A value that is no object stays as it is. */
export function currentDocument(document: unknown): unknown {
  if (!isObject(document)) return document;
  const convert = createEarlierDocument();
  const claims: ClaimInput[] = [];
  const sections = Object.entries(document).map(([section, value]) => {
    if (!Array.isArray(value)) return [section, value];
    const elements = value.map((one: unknown) => convert(section, one));
    for (const converted of elements) claims.push(...converted.claims.map(({ claim }) => claim));
    return [section, elements.map(({ element }) => element)];
  });
  const today: Record<string, unknown> = Object.fromEntries(sections);
  if (claims.length === 0) return today;
  return { ...today, claims: [...(Array.isArray(today.claims) ? today.claims : []), ...claims] };
}
