// Separates the words of a name. It imports nothing, because the code that finds the kinds uses it before they are
// listed.

/** `scimTarget` with a separator between its words, in lower case: `scim-target`. */
export const separateWords = (name: string, by: string): string =>
  name.replaceAll(/[A-Z]/g, (first) => `${by}${first.toLowerCase()}`);
