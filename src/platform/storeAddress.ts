/**
 * The hosts in the address of a store, for messages: without user and password, which may stand in
 * front of the last `@`, and without options.
 */
export const hostsOf = (url: string): string => /^[^:]+:\/\/(?:[^/]*@)?([^/?#]*)/.exec(url)?.[1] ?? '';
