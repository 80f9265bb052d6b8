// The words of a name apart from each other. It imports nothing: what finds the kinds before they are listed uses it.

/** `scimTarget` with something between its words, in lower case: `scim-target`. */
export const separateWords = (name: string, by: string): string =>
  name.replaceAll(/[A-Z]/g, (first) => `${by}${first.toLowerCase()}`);
