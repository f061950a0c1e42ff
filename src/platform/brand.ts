import { contrast, fromOklch, onColour, readable, toOklch, type Hex } from './colour.js';

/** The agency, as its clients see it on pages and in mails. */
export interface Brand {
  readonly name: string;
  readonly color: Hex;
  /** Address of a picture; absent: the name stands alone. */
  readonly logo: string | undefined;
}

export const defaultBrand: Brand = { name: 'Doorstep', color: '#b4532a', logo: undefined };

export const schemes = ['light', 'dark'] as const;
export type Scheme = (typeof schemes)[number];

/** The colours that no brand changes: ink on warm grey. */
const neutrals = {
  light: {
    ground: '#faf9f7',
    surface: '#ffffff',
    sunken: '#f3f1ed',
    line: '#e5e1da',
    lineStrong: '#8f887d',
    text: '#1d2025',
    muted: '#5d636c',
    faint: '#676d76',
    focus: '#1d5fd1',
  },
  dark: {
    ground: '#141517',
    surface: '#1c1e21',
    sunken: '#232629',
    line: '#2d3035',
    lineStrong: '#6c727b',
    text: '#eceae6',
    muted: '#a5abb4',
    faint: '#8c929b',
    focus: '#7fb0ff',
  },
} as const satisfies Record<Scheme, Readonly<Record<string, Hex>>>;

/**
 * The colours of pages and mails in one scheme. Contrasts are as WCAG 2.2 (1.4.3 and 1.4.11) asks
 * for, whatever the brand's colour: each text has at least 4.5:1 on each of the backgrounds
 * `ground`, `surface`, `sunken` and `brandWash`.
 */
export type Palette = Readonly<Record<keyof (typeof neutrals)['light'], Hex>> & {
  /** The agency's colour itself: fills the primary button. */
  readonly brand: Hex;
  /** Text on `brand`. */
  readonly brandInk: Hex;
  /** Text, links and marks in the agency's colour. */
  readonly brandText: Hex;
  /** Background of what the reader is to do. */
  readonly brandWash: Hex;
  /** Border of what `brand` fills: at least 3:1 on `ground` and `surface`. */
  readonly brandEdge: Hex;
};

/** How each scheme makes the agency's colour a text and a background. */
const tones = {
  light: { towards: 'darker', textContrast: 4.5, washLightness: 0.965 },
  dark: { towards: 'lighter', textContrast: 6, washLightness: 0.255 },
} as const;

/** As much colour as a background takes before it competes with what stands on it. */
const washChroma = 0.016;

export const paletteOf = ({ color }: Brand, scheme: Scheme): Palette => {
  const fixed = neutrals[scheme];
  const { towards, textContrast, washLightness } = tones[scheme];
  const { ground, surface, sunken } = fixed;
  const { c, h } = toOklch(color);
  const brandWash = fromOklch({ l: washLightness, c: Math.min(c, washChroma), h });
  const brandText = readable(toOklch(color), [ground, surface, sunken, brandWash], textContrast, towards);
  const isSeen = [ground, surface].every((background) => contrast(color, background) >= 3);
  return { brand: color, brandInk: onColour(color), brandText, brandWash, brandEdge: isSeen ? color : brandText, ...fixed };
};

/** The palette as CSS custom properties: `--brand: #b4532a; --brand-ink: #ffffff; …`. */
export const brandVariables = (brand: Brand, scheme: Scheme): string =>
  Object.entries(paletteOf(brand, scheme))
    .map(([name, value]) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}: ${value};`)
    .join(' ');
