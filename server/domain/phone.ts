// Owns: that a number is somebody's own only as long as it is the one that they confirmed (`phone_number_verified`, OpenID Connect
// Core §5.1): codes go there.
// Does not own: confirming one (features/users/own-phone.ts).
type Attributes = Readonly<Record<string, readonly string[]>>;

/**
 * @param attributes as they are to be
 * @param says what speaks of the confirmation itself; whatever else brings another number takes it away
 */
export function withoutOldConfirmation<T extends Attributes>(was: Attributes, attributes: T, says: Attributes): T {
  const isSame = was.phone_number?.[0] === attributes.phone_number?.[0];
  if (isSame || Object.hasOwn(says, 'phone_number_verified')) return attributes;
  const { phone_number_verified: _, ...others } = attributes;
  return others as unknown as T;
}
