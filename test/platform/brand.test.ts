import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { brandVariables, defaultBrand, paletteOf, schemes } from '../../src/platform/brand.js';
import { contrast, type Hex } from '../../src/platform/colour.js';

const colours = fc.integer({ min: 0, max: 0xffffff }).map((value): Hex => `#${value.toString(16).padStart(6, '0')}`);
const corners: [Hex][] = (
  ['#000000', '#ffffff', '#808080', '#767676', '#fff59d', '#00ff00', '#0000ff', '#ff0000', '#ffff00', '#b4532a'] as const
).map((colour) => [colour]);

test.each(schemes)('any brand colour keeps every contrast in the %s scheme', (scheme) => {
  const check = (color: Hex): void => {
    const palette = paletteOf({ ...defaultBrand, color }, scheme);
    const { ground, surface, sunken, brandWash, brand, brandInk, brandText, brandEdge, lineStrong, focus } = palette;
    for (const background of [ground, surface, sunken, brandWash]) {
      for (const text of [palette.text, palette.muted, palette.faint, brandText]) {
        expect(contrast(text, background)).toBeGreaterThanOrEqual(4.5);
      }
      for (const border of [lineStrong, focus]) expect(contrast(border, background)).toBeGreaterThanOrEqual(3);
    }
    for (const background of [ground, surface]) expect(contrast(brandEdge, background)).toBeGreaterThanOrEqual(3);
    expect(contrast(brandInk, brand)).toBeGreaterThanOrEqual(4.5);
    expect(brand).toBe(color);
  };
  fc.assert(fc.property(colours, check), { numRuns: 300, examples: corners });
});

test('the palette as custom properties', () => {
  expect(brandVariables(defaultBrand, 'light')).toMatch(
    /^--brand: #b4532a; --brand-ink: #ffffff; --brand-text: #[0-9a-f]{6}; --brand-wash: #[0-9a-f]{6}; .*--line-strong: #8f887d; .*--focus: #1d5fd1;$/,
  );
});
