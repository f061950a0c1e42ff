/** Bytes of a name in UTF-8, as file systems allow them. */
const maxBytes = 200;

/** What turns the reading direction, so that `exe.pdf` could be shown for `fdp.exe`, or is not seen. */
const invisible = /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;
/** Windows takes no file with one of these, whatever comes after the dot. */
const reserved = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)/i;

/**
 * A name that any system can keep a file under: without folders, control characters, what turns the
 * reading direction, and dots or spaces at its ends; `null` when nothing is left.
 */
export const cleanFileName = (text: string): string | null => {
  const last = text.normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const plain = last
    .replace(invisible, '')
    .replace(/[<>:"|?*\ufffd\p{Surrogate}]/gu, '_')
    .replace(/\s+/g, ' ')
    .replace(/^[. ]+|[. ]+$/g, '');
  if (plain === '') return null;
  return shorten(reserved.test(plain) ? `_${plain}` : plain);
};

const bytesOf = (text: string): number => Buffer.byteLength(text);

/** Keeps the extension. */
const shorten = (name: string): string => {
  if (bytesOf(name) <= maxBytes) return name;
  const extension = /\.[^. ]{1,20}$/u.exec(name)?.[0] ?? '';
  let kept = '';
  for (const character of name.slice(0, name.length - extension.length)) {
    if (bytesOf(kept) + bytesOf(character) + bytesOf(extension) > maxBytes) break;
    kept += character;
  }
  return kept.trimEnd() + extension;
};

/**
 * The value of `Content-Disposition` (RFC 6266), with the name in ASCII for old clients and whole in
 * UTF-8 (RFC 8187).
 */
export const contentDisposition = (kind: 'inline' | 'attachment', name: string): string => {
  const ascii = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]/g, '_')
    .replace(/["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${encoded}`;
};
