/** Bytes of an object or an entry beside what it contains, by estimate. */
const overhead = 16;

/**
 * About how many bytes a value takes in memory: plain data, with maps and sets. It looks at every
 * part once, so that what is referred to twice counts twice.
 */
export const approximateBytes = (value: unknown): number => {
  if (typeof value === 'string') return overhead + value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let bytes = overhead;
  if (value instanceof Map) {
    for (const [key, part] of value) bytes += overhead + approximateBytes(key) + approximateBytes(part);
  } else if (Array.isArray(value) || value instanceof Set) {
    for (const part of value) bytes += approximateBytes(part);
  } else {
    for (const part of Object.values(value)) bytes += 8 + approximateBytes(part);
  }
  return bytes;
};
