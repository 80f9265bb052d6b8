// Owns: what a person's attributes say of their phone number (OpenID Connect Core §5.1), and that it counts as confirmed only as long
// as it is the number that they confirmed: codes go there.
// Does not own: confirming one (features/people/users/own-phone.ts).
export const PHONE_NUMBER = 'phone_number';
export const PHONE_CONFIRMED = 'phone_number_verified';
type Attributes = Readonly<Record<string, readonly string[]>>;

/**
 * Removes the confirmation of a phone number that changes.
 * @param attributes the new attributes
 * @param says attributes of the same change; if they set the confirmation, it stays
 */
export function withoutOldConfirmation<T extends Attributes>(was: Attributes, attributes: T, says: Attributes): T {
  const isSame = was[PHONE_NUMBER]?.[0] === attributes[PHONE_NUMBER]?.[0];
  return isSame || Object.hasOwn(says, PHONE_CONFIRMED) ? attributes : withoutConfirmation(attributes);
}

export function withoutConfirmation<T extends Attributes>(attributes: T): T {
  const { [PHONE_CONFIRMED]: _, ...others } = attributes;
  return others as unknown as T;
}
