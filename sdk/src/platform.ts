/** A page or its worker: it names itself to servers, and sends no body as a stream. */
export const isBrowser = 'document' in globalThis || 'importScripts' in globalThis;

/** 128 random bits as text. Not `crypto.randomUUID`, which pages have only where they came by TLS. */
export const randomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
