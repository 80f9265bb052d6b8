// E-mail addresses. RFC 5321 §4.1.2 (`Dot-string`), RFC 5322 §3.2.3 (atext), RFC 5890 (domains of other scripts). The local part may be
// longer than the 64 characters that every mail server takes (§4.5.3.1.1): names of guests in Microsoft Entra are.
import { z } from 'zod';

const ATEXT = String.raw`[A-Za-z0-9!#$%&'*+/=?^_\x60{|}~-]+`;
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/** The last label is letters or an A-label, so that no address of a machine (192.0.2.1) is a domain. */
const ADDRESS = new RegExp(
  String.raw`^${ATEXT}(?:\.${ATEXT})*@(?:${LABEL}\.)+(?:[A-Za-z]{2,63}|[Xx][Nn]--[A-Za-z0-9-]{0,58}[A-Za-z0-9])$`,
);
const LONGEST = 254;
/** Letters, marks and digits of any script, hyphens and the full stops that IDNA knows. */
const INTERNATIONAL = /^[\p{L}\p{M}\p{N}.\-\u3002\uff0e\uff61]+$/u;

/**
 * The address with its domain as mail servers know it: `ann@пример.рф` is `ann@xn--e1afmkfd.xn--p1ai`. An address whose
 * domain is ASCII stays as it is, and so does text that is no address.
 */
export function asciiEmail(address: string): string {
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1);
  if (at < 0 || /^\p{ASCII}*$/u.test(domain) || !INTERNATIONAL.test(domain)) return address;
  const host = URL.parse(`https://${domain}`)?.hostname;
  return host === undefined ? address : `${address.slice(0, at)}@${host}`;
}

/** Whether the text is an e-mail address, with a domain in ASCII or in its own script. */
export function isEmail(text: string): boolean {
  const address = asciiEmail(text);
  return address.length <= LONGEST && ADDRESS.test(address);
}

/**
 * An e-mail address; `asciiEmail` of it is what counts, so that one address has one form. Quoted local parts, addresses of
 * machines (`[192.0.2.1]`) and local parts beyond ASCII (RFC 6531) are refused.
 */
export const Email = z
  .string()
  .overwrite(asciiEmail)
  .max(LONGEST)
  .refine((s) => s.length > LONGEST || ADDRESS.test(s), 'must be an e-mail address')
  .meta({ format: 'email' });
