// The messages of PostgreSQL's extended protocol that every statement needs (Bind, Describe, Execute, Sync), put together
// in one buffer, so that a batch is one write. Parse and Close are rare and left to pg. PostgreSQL documentation, 55.7.

type Wire = string | Buffer | null;

export interface Execution {
  /** Of the prepared statement. */
  name: string;
  values: readonly Wire[];
  /** Whether its columns are wanted. */
  describe: boolean;
}

const [BIND, DESCRIBE, EXECUTE, SYNC] = [0x42, 0x44, 0x45, 0x53];
const DESCRIBE_LENGTH = 7;
const EXECUTE_LENGTH = 10;
const SYNC_LENGTH = 5;
const [TEXT, BINARY] = [0, 1];

const sizeOf = (value: Wire): number =>
  value === null ? 0 : typeof value === 'string' ? Buffer.byteLength(value) : value.length;

/** Portal and statement with their ends, three counts, the format of the results; six bytes and its own for each value. */
const bindLength = ({ name, values }: Execution): number =>
  values.reduce<number>((sum, value) => sum + 6 + sizeOf(value), 1 + 4 + 1 + Buffer.byteLength(name) + 1 + 2 + 2 + 4);

function writeBind(to: Buffer, start: number, length: number, { name, values }: Execution): number {
  let at = to.writeUInt8(BIND, start);
  at = to.writeInt32BE(length - 1, at);
  at = to.writeUInt8(0, at);
  at += to.write(name, at);
  at = to.writeUInt8(0, at);
  at = to.writeUInt16BE(values.length, at);
  for (const value of values) at = to.writeInt16BE(Buffer.isBuffer(value) ? BINARY : TEXT, at);
  at = to.writeUInt16BE(values.length, at);
  for (const value of values) {
    if (value === null) at = to.writeInt32BE(-1, at);
    else {
      const size = typeof value === 'string' ? to.write(value, at + 4) : value.copy(to, at + 4);
      to.writeInt32BE(size, at);
      at += 4 + size;
    }
  }
  at = to.writeInt16BE(1, at);
  return to.writeInt16BE(TEXT, at);
}

/** All of them on the unnamed portal, one after the other, and one Sync. */
export function executionsMessage(executions: readonly Execution[]): Buffer {
  const lengths = executions.map(bindLength);
  const size = executions.reduce<number>(
    (sum, { describe }, i) => sum + (lengths[i] ?? 0) + (describe ? DESCRIBE_LENGTH : 0) + EXECUTE_LENGTH,
    SYNC_LENGTH,
  );
  const to = Buffer.allocUnsafe(size);
  let at = 0;
  for (const [i, execution] of executions.entries()) {
    at = writeBind(to, at, lengths[i] ?? 0, execution);
    if (execution.describe) {
      at = to.writeUInt8(DESCRIBE, at);
      at = to.writeInt32BE(DESCRIBE_LENGTH - 1, at);
      at = to.writeUInt8(0x50, at);
      at = to.writeUInt8(0, at);
    }
    at = to.writeUInt8(EXECUTE, at);
    at = to.writeInt32BE(EXECUTE_LENGTH - 1, at);
    at = to.writeUInt8(0, at);
    at = to.writeInt32BE(0, at);
  }
  at = to.writeUInt8(SYNC, at);
  to.writeInt32BE(SYNC_LENGTH - 1, at);
  return to;
}
