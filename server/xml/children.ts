// The children of a read element, by name.
import type { Xml } from './document.ts';

/** @returns a function that finds the children with one name in a namespace; default: `usual` */
export const childrenIn =
  (usual: string) =>
  (at: Xml, name: string, namespace = usual): Xml[] =>
    at.children.filter((child) => child.name === name && child.namespace === namespace);
