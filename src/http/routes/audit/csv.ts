/**
 * What a spreadsheet takes for the beginning of a formula (OWASP, "CSV Injection"), the full-width
 * forms that it takes for the same included.
 */
const formula = /^[=+\-@\t\r\n＝＋－＠]/u;

/**
 * One line of a CSV file (RFC 4180). A field that a spreadsheet would run as a formula begins with an
 * apostrophe, by which it is shown as text.
 */
export const csvLine = (fields: readonly string[]): string => `${fields.map(csvField).join(',')}\r\n`;

const csvField = (text: string): string => {
  const safe = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
