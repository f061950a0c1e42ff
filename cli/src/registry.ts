/** The commands as data: for the man pages, docs/programs.md and tests. */
export { commands } from './commands/index.js';
export { manPages } from './manPages.js';
