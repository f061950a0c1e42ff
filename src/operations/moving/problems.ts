import { UsageError } from '../script.js';

/** The target has something that is not of this installation. */
export class NotEmpty extends UsageError {
  constructor(what: string) {
    super(`Nothing can be moved there: ${what}. Name empty stores, or those of a move of this installation that was interrupted`);
  }
}

/** The two sides differ after everything was copied. */
export class NotEqual extends UsageError {
  constructor(what: string) {
    super(`The copy is not equal: ${what}. Is a process of the old installation still running? Stop it, then run this again`);
  }
}
