// The children of an element that was read, by name.
import type { Xml } from './document.ts';

/** @returns a function that finds the children of one name in a namespace, which is `usual` where the caller names none */
export const childrenIn =
  (usual: string) =>
  (at: Xml, name: string, namespace = usual): Xml[] =>
    at.children.filter((child) => child.name === name && child.namespace === namespace);
