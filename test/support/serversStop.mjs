/** Jest's `globalTeardown`. */
export { stop as default } from './serversStart.mjs';
