import { onColour, readable, toOklch, type Hex } from './colour.js';

/** The agency, as its clients see it on pages and in mails. */
export interface Brand {
  readonly name: string;
  readonly color: Hex;
  /** Address of a picture; absent: the name stands alone. */
  readonly logo: string | undefined;
}

export const defaultBrand: Brand = { name: 'Doorstep', color: '#1d4ed8', logo: undefined };

/** Backgrounds of one colour scheme: the page, and the card on it. */
export interface Backgrounds {
  readonly ground: Hex;
  readonly card: Hex;
}

/** The backgrounds of pages and mails. */
export const backgrounds = {
  light: { ground: '#f3f5f7', card: '#ffffff' },
  dark: { ground: '#11161c', card: '#1b232c' },
} as const satisfies Record<'light' | 'dark', Backgrounds>;

/** The brand's colour in one colour scheme. */
export interface BrandColours {
  /** For text, links and lines: at least 4.5:1 against both backgrounds. */
  readonly accent: Hex;
  /** For buttons, whose border is `accent`. */
  readonly fill: Hex;
  /** For text on `fill`: at least 4.5:1. */
  readonly onFill: Hex;
}

/** Contrasts as WCAG 2.2, 1.4.3 and 1.4.11 ask for, whatever the brand's colour. */
export const brandColours = ({ color }: Brand): Readonly<Record<'light' | 'dark', BrandColours>> => {
  const colours = (scheme: 'light' | 'dark', towards: 'lighter' | 'darker'): BrandColours => {
    const { ground, card } = backgrounds[scheme];
    return { accent: readable(toOklch(color), [ground, card], 4.5, towards), fill: color, onFill: onColour(color) };
  };
  return { light: colours('light', 'darker'), dark: colours('dark', 'lighter') };
};
