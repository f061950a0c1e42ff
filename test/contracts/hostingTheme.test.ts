import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { themeOf, type Palette } from '../../src/integrations/hosting/site/theme.js';
import { contrast, fromOklch, onColour, parseHex, toOklch, type Hex } from '../../src/platform/colour.js';

const colours = fc.integer({ min: 0, max: 0xffffff }).map((value): Hex => `#${value.toString(16).padStart(6, '0')}`);
const corners: Hex[] = ['#000000', '#ffffff', '#808080', '#fff59d', '#ff0000', '#00ff00', '#0000ff', '#777777', '#767676'];

const pages = ['paper', 'surface', 'tint'] as const;
const pairs: { text: keyof Palette; on: keyof Palette; ratio: number }[] = [
  ...(['ink', 'muted', 'accent'] as const).flatMap((text) => pages.map((on) => ({ text, on, ratio: 4.5 }))),
  ...pages.map((on) => ({ text: 'edge' as const, on, ratio: 3 })),
  { text: 'onBrand', on: 'brand', ratio: 4.5 },
  { text: 'onBrandStrong', on: 'brandStrong', ratio: 4.5 },
  // Inverted: a dark area with the page's colour as text.
  { text: 'paper', on: 'ink', ratio: 4.5 },
];

describe.each(['light', 'dark'] as const)('the %s theme of any brand colour', (scheme) => {
  test('has every documented contrast', () => {
    const check = (brand: Hex): void => {
      const palette = themeOf(brand)[scheme];
      for (const { text, on, ratio } of pairs) {
        const reached = contrast(palette[text], palette[on]);
        if (reached < ratio) throw new Error(`${brand}: ${text} on ${on} has ${reached.toFixed(2)}, not ${String(ratio)}`);
      }
    };
    corners.forEach(check);
    fc.assert(fc.property(colours, check), { numRuns: 150 });
  });

  test('consists of colours', () => {
    fc.assert(
      fc.property(colours, (brand) => {
        for (const colour of Object.values(themeOf(brand)[scheme]) as string[]) expect(parseHex(colour)).toBe(colour);
      }),
      { numRuns: 50 },
    );
  });
});

test('the brand colour is used unchanged wherever it is visible', () => {
  for (const brand of ['#e60012', '#1f5f5b', '#ff8a00', '#fff59d', '#000000'] as const)
    expect(themeOf(brand).light.brand).toBe(brand);
  for (const brand of ['#e60012', '#ff8a00', '#fff59d', '#ffffff'] as const) expect(themeOf(brand).dark.brand).toBe(brand);
});

test('a brand colour that is invisible on the page is adjusted', () => {
  expect(contrast(themeOf('#ffffff').light.brand, themeOf('#ffffff').light.paper)).toBeGreaterThan(4.5);
  expect(contrast(themeOf('#000000').dark.brand, themeOf('#000000').dark.paper)).toBeGreaterThan(4.5);
});

test('text on a colour is readable, and white where possible', () => {
  fc.assert(fc.property(colours, (fill) => contrast(onColour(fill), fill) >= 4.5));
  expect(onColour('#1f5f5b')).toBe('#ffffff');
  expect(onColour('#767676')).toBe('#ffffff');
  expect(onColour('#fff59d')).not.toBe('#ffffff');
});

test('contrast is as WCAG defines it', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  expect(contrast('#ff0000', '#ffffff')).toBeCloseTo(3.998, 2);
  expect(contrast('#123456', '#123456')).toBe(1);
});

test('a colour is unchanged after conversion to OKLCH and back', () => {
  fc.assert(
    fc.property(colours, (colour) => {
      expect(fromOklch(toOklch(colour))).toBe(colour);
    }),
  );
  expect(toOklch('#ff0000')).toMatchObject({
    l: expect.closeTo(0.628, 3),
    c: expect.closeTo(0.2577, 3),
    h: expect.closeTo(29.23, 1),
  });
});

test.each(['', 'red', '#fff', '#12345', '#1234567', '#12345g', ' #123456', '#123456\n'])('%j is no colour', (text) => {
  expect(parseHex(text)).toBeNull();
});
