/** A page or its worker: it names itself to servers, and sends no body as a stream. */
export const isBrowser = 'document' in globalThis || 'importScripts' in globalThis;
