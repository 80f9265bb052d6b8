// Whom an access token is about: people's come from a grant of theirs; a service account's has none.

/** Never by `sub`: a client's name may look like a person's id. */
export const isPersons = ({ gid }: { gid?: string | undefined }): boolean => gid !== undefined;
