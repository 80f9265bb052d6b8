// Rows as a file of comma-separated values, for spreadsheets. Pure.

/** The beginning of a formula, also where a spreadsheet divides the line otherwise: by semicolons in many countries, or by tabs. */
const FORMULA = /(?<=^|[;\t\r\n])(?=[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])/g;
/** A cell that a spreadsheet neither splits nor takes for a formula. */
function cell(value: unknown): string {
  const text = value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const plain = text.replaceAll(FORMULA, "'");
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

export const csvOf = (head: readonly string[], rows: readonly (readonly unknown[])[]): string =>
  [head, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
