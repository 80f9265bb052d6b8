// The one form of a password in which it is hashed and judged: RFC 8265 §4.2 (OpaqueString). Imports nothing: the threads that
// hash load it.

/** In normalization form C, with every blank of Unicode as a space. ASCII stays as it is. */
export const passwordForm = (plain: string): string => plain.replaceAll(/\p{Zs}/gu, ' ').normalize('NFC');

/**
 * The forms under which an older hash, or one from another server, may know the password: as this server hashes it, as it was
 * typed, and composed or decomposed, as keyboards of different systems write it. One for ASCII.
 */
export const passwordForms = (plain: string): string[] => [
  ...new Set([passwordForm(plain), plain, plain.normalize('NFC'), plain.normalize('NFD')]),
];
