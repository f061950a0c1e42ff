import { isUtf8 } from 'node:buffer';

/** As many bytes of a file as its type is found by. */
export const sampleBytes = 65_536;

const binary = 'application/octet-stream';
const plainText = 'text/plain';
/** Of a text, the extension says what it is for; nothing depends on it. A map, because an object has a `constructor` too. */
const textTypes: ReadonlyMap<string, string> = new Map([
  ['csv', 'text/csv'],
  ['md', 'text/markdown'],
  ['json', 'application/json'],
]);

/**
 * What a file is by its first bytes, whatever its sender says.
 * @param sample the first `sampleBytes` of it, or all
 */
export const contentTypeOf = async (sample: Uint8Array, name: string): Promise<string> => {
  const { fileTypeFromBuffer } = await import('file-type');
  const found = (await fileTypeFromBuffer(sample))?.mime;
  if (found !== undefined && found !== 'application/xml') return found;
  const text = textIn(sample);
  if (text === null) return found ?? binary;
  if (/<svg[\s>]/i.test(text)) return 'image/svg+xml';
  if (/<(?:!doctype html|html|head|body|script|iframe)[\s>]/i.test(text)) return 'text/html';
  return found ?? textTypes.get(/\.(\w+)$/.exec(name.toLowerCase())?.[1] ?? '') ?? plainText;
};

/** `null` when it is no text in UTF-8. The last character of a sample may be cut off. */
const textIn = (sample: Uint8Array): string | null => {
  const isText = [0, 1, 2, 3].some((cut) => isUtf8(sample.subarray(0, sample.length - cut)));
  return isText && !sample.some(isControl) ? Buffer.from(sample).toString('utf8') : null;
};

/** But for tabs, line breaks and the escape of terminals, which are in no text. */
const isControl = (byte: number): boolean => byte < 9 || (byte > 13 && byte < 32 && byte !== 27);

/**
 * Types that a browser shows without running anything: of images only those of pixels, since an SVG
 * holds scripts.
 */
const shown = new Set([
  'application/pdf',
  'image/png',
  'image/apng',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
]);

export const isShownInline = (contentType: string): boolean => shown.has(contentType);
