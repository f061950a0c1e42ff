import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { backgrounds, brandColours, defaultBrand } from '../../src/platform/brand.js';
import { contrast, type Hex } from '../../src/platform/colour.js';

test.each(['light', 'dark'] as const)('any brand colour can be read in the %s scheme', (scheme) => {
  const check = (color: Hex): void => {
    const { accent, fill, onFill } = brandColours({ ...defaultBrand, color })[scheme];
    const { ground, card } = backgrounds[scheme];
    expect(contrast(accent, ground)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(accent, card)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(onFill, fill)).toBeGreaterThanOrEqual(4.5);
  };
  const corners = ['#000000', '#ffffff', '#808080', '#767676', '#fff59d', '#00ff00', '#0000ff'] as const;
  corners.forEach(check);
  const colours = fc.integer({ min: 0, max: 0xffffff }).map((value): Hex => `#${value.toString(16).padStart(6, '0')}`);
  fc.assert(fc.property(colours, check), { numRuns: 150 });
});
