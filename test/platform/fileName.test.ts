import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cleanFileName, contentDisposition } from '../../src/platform/fileName.js';

describe('a file name', () => {
  test.each([
    ['a\tb\u0007c\0d.pdf', 'abcd.pdf'],
    ['cod\u202egpj.exe', 'codgpj.exe'],
    ['a\u2066b\u2069\u200b\ufeff.txt', 'ab.txt'],
    ['lone \ud800 surrogate', 'lone _ surrogate'],
    ['e\u0301.txt', 'é.txt'],
    ['NUL', '_NUL'],
    ['com1.txt', '_com1.txt'],
    ['console.txt', 'console.txt'],
    ['family 👨‍👩‍👧.png', 'family 👨‍👩‍👧.png'],
    [`${'x'.repeat(300)}.tar.gz`, `${'x'.repeat(197)}.gz`],
    ['a.b. ', 'a.b'],
    ['. .', null],
    ['dir/', null],
  ])('%j becomes %j', (text, name) => {
    expect(cleanFileName(text)).toBe(name);
  });

  test('that was cleaned stays so, is short, and has neither folders nor control characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        const name = cleanFileName(text);
        if (name === null) return;
        expect(cleanFileName(name)).toBe(name);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(201);
        expect(name).not.toMatch(/[/\\\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });

  test('stands in Content-Disposition in ASCII, and whole', () => {
    expect(contentDisposition('attachment', "Größe 5% 'neu' (1)*.pdf")).toBe(
      `attachment; filename="Grosse 5_ 'neu' (1)*.pdf"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%205%25%20%27neu%27%20%281%29%2A.pdf`.replace(
        'Grosse',
        'Gro_e',
      ),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
        const name = cleanFileName(text);
        if (name !== null)
          expect(contentDisposition('inline', name)).toMatch(
            /^inline; filename="[\x20-\x21\x23-\x7e]*"; filename\*=UTF-8''[\w.%~-]+$/,
          );
      }),
    );
  });
});
