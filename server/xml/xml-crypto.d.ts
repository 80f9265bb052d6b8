// As much of xml-crypto as is used here. Its own types would bring a browser's globals into every file (tsconfig.json, paths).
import type { KeyObject } from 'node:crypto';
import type { Element } from './xmldom.d.ts';

export interface Reference {
  uri?: string;
  transforms: readonly string[];
  digestAlgorithm: string;
}
interface Algorithms {
  SignatureAlgorithms: Record<string, unknown>;
  HashAlgorithms: Record<string, unknown>;
  CanonicalizationAlgorithms: Record<string, unknown>;
}
export interface SignedXml extends Algorithms {
  signatureAlgorithm?: string;
  loadSignature(signature: Element): void;
  /** @throws where the signature is wrong, or isn't one */
  checkSignature(text: string): boolean;
  getReferences(): Reference[];
  /** The canonical text that the signature covers. */
  getSignedReferences(): string[];
  addReference(reference: { xpath: string; transforms: string[]; digestAlgorithm: string; uri?: string }): void;
  computeSignature(
    text: string,
    options: { prefix: string; location: { reference: string; action: 'prepend' | 'after' | 'append' | 'before' } },
  ): void;
  getSignedXml(): string;
  /** In place of signatures; tests alone. */
  enableHMAC(): void;
}
interface Options {
  publicCert?: KeyObject;
  privateKey?: KeyObject;
  signatureAlgorithm?: string;
  canonicalizationAlgorithm?: string;
  /** Null: the signature's own key never counts. */
  getCertFromKeyInfo?(): null;
  getKeyInfoContent?(args: { prefix?: string | null }): string | null;
}
/** CommonJS, and so all of it by its default. */
declare const xmlCrypto: { SignedXml: new (options: Options) => SignedXml };
export default xmlCrypto;
