import { systemErrorCode } from './systemError.js';

/** Primary result codes of SQLite that are told apart, https://sqlite.org/rescode.html. */
export const sqlite = {
  error: 1,
  busy: 5,
  locked: 6,
  noMemory: 7,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  protocol: 15,
  constraint: 19,
  notADatabase: 26,
} as const;

/** The driver leaves the code out when `all` or `iterate` fails: SQLite's words for it (sqlite3ErrStr). */
const codeOfWords = new Map<string, number>([
  ['database is locked', sqlite.busy],
  ['database table is locked', sqlite.locked],
  ['out of memory', sqlite.noMemory],
  ['attempt to write a readonly database', sqlite.readOnly],
  ['disk I/O error', sqlite.ioError],
  ['database disk image is malformed', sqlite.corrupt],
  ['database or disk is full', sqlite.full],
  ['unable to open database file', sqlite.cannotOpen],
  ['locking protocol', sqlite.protocol],
  ['file is not a database', sqlite.notADatabase],
]);

/** SQLite's primary result code of a fault, in the low byte of the extended one; `null` when SQLite did not throw it. */
export const sqliteCode = (fault: unknown): number | null => {
  if (systemErrorCode(fault) !== 'ERR_SQLITE_ERROR') return null;
  const { errcode, message } = fault as { readonly errcode?: number; readonly message: string };
  return errcode === undefined ? (codeOfWords.get(message) ?? sqlite.error) : errcode & 0xff;
};
