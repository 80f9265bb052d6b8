// What a kind's declaration adds for `realmctl` and for the console's forms; all else follows from its fields' names, schemas and
// descriptions.

/** How a form for the kind looks, where it differs from what the fields' names, types and descriptions say. */
export interface Form {
  /** What the kind is for, in a sentence without its period; default: the description. */
  lead?: string;
  /** Groups of fields in their order; fields in none come last, below "More". */
  groups?: readonly { title: string; help?: string; fields: readonly string[] }[];
  fields?: Readonly<Record<string, FieldForm>>;
}
export interface FieldForm {
  label?: string;
  help?: string;
  widget?: 'text' | 'longText' | 'duration' | 'colour' | 'url' | 'json' | 'css' | 'secret' | 'sections';
}

/** Fields that only some objects have: a form shows them by the value of another field. */
export interface Applies {
  /** The field whose value decides: `type`. */
  by: string;
  /** The values with which a field applies, by its path: `{ 'config.issuer': ['oidc'] }`. Other fields always apply. */
  where: Readonly<Record<string, readonly string[]>>;
}

/** How `realmctl` shows the kind, if it differs from the names of section, kind and fields. */
export interface Cli {
  /** `workload-identities` */
  plural?: string;
  singular?: string;
  help?: string;
  /** Fields that `get` shows after the key; default: the first four. `-o wide` shows the others. */
  shown?: readonly string[];
  /** Fields that `-o wide` adds; default: all others and the id. */
  wide?: readonly string[];
  /** Column heads by field. */
  heads?: Readonly<Record<string, string>>;
}
