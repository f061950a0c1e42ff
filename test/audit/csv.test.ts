import { expect, test } from '@jest/globals';
import { csvLine } from '../../src/http/routes/audit/csv.js';

test.each([
  ['plain', 'plain'],
  ['', ''],
  ['a,b', '"a,b"'],
  ['say "hello"', '"say ""hello"""'],
  ['two\nlines', '"two\nlines"'],
  ['{"a":1}', '"{""a"":1}"'],
  ['=1+1', "'=1+1"],
  ['+49 1', "'+49 1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', '"\'\r=1"'],
  ['\n=1', '"\'\n=1"'],
  ['＝1+1', "'＝1+1"],
  ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
  ['ana@example.com', 'ana@example.com'],
])('%j becomes %j', (text, field) => {
  expect(csvLine([text, 'next'])).toBe(`${field},next\r\n`);
});
