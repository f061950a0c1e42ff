/**
 * No key leads out of the folder, or to the names that begin with a dot. @throws Error when it is none
 */
export const checkKey = (key: string): string => {
  if (key.length > 200 || !/^[\w-]+(?:\/[\w-]+)*$/.test(key)) throw new Error(`${key} is not the key of a file`);
  return key;
};
