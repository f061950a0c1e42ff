import { fromOklch, onColour, readable, toOklch, type Hex, type Oklch } from '../../../platform/colour.js';

/**
 * The colours of one colour scheme, derived from a brand colour. Guaranteed contrast for any brand
 * colour (WCAG 2.2, 1.4.3 and 1.4.11): text (`ink`, `muted`, `accent`) has 4.5:1 against `paper`,
 * `surface` and `tint`; `onBrand` and `onBrandStrong` have 4.5:1 on their fills; `edge` has 3:1
 * against `paper`, `surface` and `tint`. `soft` and `companion` are decoration only.
 */
export interface Palette {
  /** The page's background. */
  readonly paper: Hex;
  /** Raised or alternate areas. */
  readonly surface: Hex;
  /** Areas lightly tinted with the brand colour. */
  readonly tint: Hex;
  /** Decorative hairlines. */
  readonly line: Hex;
  /** Text. */
  readonly ink: Hex;
  /** Secondary text. */
  readonly muted: Hex;
  /** The brand colour for text and links. */
  readonly accent: Hex;
  /** The brand colour as a fill, and text on it. */
  readonly brand: Hex;
  readonly onBrand: Hex;
  /** The fill under the pointer, and text on it. */
  readonly brandStrong: Hex;
  readonly onBrandStrong: Hex;
  /** The brand colour for lines that must be visible: buttons, icons, the focus ring. */
  readonly edge: Hex;
  /** A pale brand colour, for pictures. */
  readonly soft: Hex;
  /** A contrasting hue, for pictures. */
  readonly companion: Hex;
}

export interface Theme {
  readonly light: Palette;
  readonly dark: Palette;
}

const text = 4.5;
const graphic = 3;

/** The palettes of light and dark pages for a brand colour. */
export const themeOf = (brand: Hex): Theme => {
  const base = toOklch(brand);
  // The hue of a grey is meaningless, so its neutrals stay grey and its companion differs by
  // lightness.
  const grey = base.c < 0.02;
  const tinted = (l: number, c: number): Hex => fromOklch({ l, c: grey ? 0 : Math.min(c, base.c * 1.2), h: base.h });
  const companion = (l: number): Hex =>
    grey ? tinted(Math.abs(base.l - l) < 0.2 ? 0.42 : l, 0) : fromOklch({ l, c: 0.11, h: base.h + 130 });
  return {
    light: palette(base, fillOnLight(base, brand), 'darker', {
      paper: tinted(0.995, 0.003),
      surface: tinted(0.975, 0.01),
      tint: tinted(0.953, 0.032),
      line: tinted(0.885, 0.02),
      ink: tinted(0.22, 0.03),
      muted: tinted(0.46, 0.03),
      soft: base.l > 0.82 ? tinted(0.82, 0.12) : tinted(0.86, 0.1),
      companion: companion(0.74),
    }),
    dark: palette(base, fillOnDark(base, brand), 'lighter', {
      paper: tinted(0.175, 0.015),
      surface: tinted(0.215, 0.018),
      tint: tinted(0.26, 0.04),
      line: tinted(0.35, 0.03),
      ink: tinted(0.955, 0.01),
      muted: tinted(0.78, 0.02),
      soft: tinted(0.38, 0.07),
      companion: companion(0.68),
    }),
  };
};

/** A brand colour that is invisible on a white page becomes almost black. */
const fillOnLight = (base: Oklch, brand: Hex): Hex => (base.l > 0.97 ? fromOklch({ ...base, l: 0.24 }) : brand);

/**
 * A brand colour that is invisible on a dark page is lightened; a grey one becomes almost white.
 */
const fillOnDark = (base: Oklch, brand: Hex): Hex => {
  if (base.l >= 0.45) return brand;
  return fromOklch(base.c < 0.02 ? { ...base, l: 0.92 } : { ...base, l: 0.55 });
};

const palette = (
  base: Oklch,
  brand: Hex,
  towards: 'lighter' | 'darker',
  neutrals: Pick<Palette, 'paper' | 'surface' | 'tint' | 'line' | 'ink' | 'muted' | 'soft' | 'companion'>,
): Palette => {
  const pages = [neutrals.paper, neutrals.surface, neutrals.tint];
  const fill = toOklch(brand);
  const brandStrong = fromOklch({ ...fill, l: fill.l > 0.35 ? fill.l - 0.07 : Math.max(fill.l + 0.09, 0.24) });
  return {
    ...neutrals,
    ink: readable(toOklch(neutrals.ink), pages, text, towards),
    muted: readable(toOklch(neutrals.muted), pages, text, towards),
    accent: readable(base, pages, text, towards),
    brand,
    onBrand: onColour(brand),
    brandStrong,
    onBrandStrong: onColour(brandStrong),
    edge: readable(fill, pages, graphic, towards),
  };
};
