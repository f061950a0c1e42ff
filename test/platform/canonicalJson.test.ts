import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson, hashOfJson } from '../../src/platform/canonicalJson.js';

const parse = (text: string): unknown => JSON.parse(text);

describe('the canonical form of JSON', () => {
  test('is that of the example of RFC 8785, 3.2.2 and 3.2.3', () => {
    const text =
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
      '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}';
    expect(canonicalJson(parse(text))).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  test('sorts names by their UTF-16 units, whatever they look like', () => {
    const text = '{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7,"10":8,"__proto__":9}';
    expect(canonicalJson(parse(text))).toBe('{"\\r":2,"1":4,"10":8,"__proto__":9,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}');
  });

  test('means the same value, in whichever order it was written', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse());
        expect(canonicalJson(turned)).toBe(canonicalJson(value));
        expect(JSON.stringify(parse(canonicalJson(value)))).toBe(JSON.stringify(parse(canonicalJson(turned))));
        expect(parse(canonicalJson(value))).toEqual(parse(JSON.stringify(value)));
      }),
    );
  });

  test('gives the hash that its examples in the API show', () => {
    expect(hashOfJson({})).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
  });
});
