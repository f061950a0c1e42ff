import { describe, expect, test } from '@jest/globals';
import { createPathTable } from '../../src/http/pathTable.js';

const paths = [
  '/websites',
  '/websites/:id',
  '/websites/:id/content/:documentId',
  '/websites/:id/content/preview',
  '/websites/:id/content/preview/:language/notes',
  '/websites/:websiteId/owner',
];
const find = createPathTable(paths.map((path) => [path, path] as const));

describe('a table of paths', () => {
  test.each([
    ['/websites', '/websites', {}],
    ['/websites/', '/websites', {}],
    ['/websites/a', '/websites/:id', { id: 'a' }],
    ['/websites/a/owner', '/websites/:websiteId/owner', { websiteId: 'a' }],
    ['/websites/a/content/preview', '/websites/:id/content/preview', { id: 'a' }],
    ['/websites/a/content/previews', '/websites/:id/content/:documentId', { id: 'a', documentId: 'previews' }],
    ['/websites/owner', '/websites/:id', { id: 'owner' }],
    ['/websites/a%2Fb%C3%BC', '/websites/:id', { id: 'a/bü' }],
    ['/websites/__proto__', '/websites/:id', { id: '__proto__' }],
  ])('finds %s', (path, entry, params) => {
    expect(find(path)).toEqual({ entry, params });
  });

  test.each([
    '/',
    '',
    '*',
    '/Websites',
    '/websites//',
    '//websites',
    '/websites//owner',
    '/websites/a/content',
    '/websites/a/owner/b',
  ])('finds nothing at %j', (path) => {
    expect(find(path)).toBeUndefined();
  });

  test('throws what is not percent-encoded, unless there is nothing at the path', () => {
    expect(() => find('/websites/%E0%A4')).toThrow(URIError);
    expect(find('/nothing/%E0%A4')).toBeUndefined();
  });

  test('keeps the first entry of a path', () => {
    expect(createPathTable([['/a/:b', 1] as const, ['/a/:c', 2] as const])('/a/x')).toEqual({ entry: 1, params: { b: 'x' } });
  });
});
