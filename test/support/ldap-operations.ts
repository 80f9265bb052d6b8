// Owns: what a client asks of a directory: the LDAP operations in a stream of bytes, by name. RFC 4511 §5.1.
// Does not own: the way between the two (relay.ts).

const OPERATIONS: Record<number, string> = { 96: 'bind', 66: 'unbind', 99: 'search', 119: 'extended' };

/** A BER element's content: where it begins and ends; undefined: it isn't all there. */
function contentAt(bytes: Buffer, at: number): { begin: number; end: number } | undefined {
  const first = bytes[at + 1];
  if (first === undefined) return undefined;
  const more = first < 0x80 ? 0 : first & 0x7f;
  if (bytes.length < at + 2 + more) return undefined;
  const length = more === 0 ? first : bytes.readUIntBE(at + 2, more);
  const begin = at + 2 + more;
  return bytes.length < begin + length ? undefined : { begin, end: begin + length };
}

/** Takes what a client sends, as it comes, and says each whole operation. */
export function ldapOperations(said: (operation: string) => void): (chunk: Buffer) => void {
  let bytes: Buffer = Buffer.alloc(0);
  return (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (let message = contentAt(bytes, 0); message; message = contentAt(bytes, 0)) {
      const number = contentAt(bytes, message.begin);
      const tag = (number && bytes[number.end]) ?? -1;
      said(OPERATIONS[tag] ?? String(tag));
      bytes = bytes.subarray(message.end);
    }
  };
}
