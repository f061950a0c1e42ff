/**
 * Colour arithmetic: sRGB, WCAG 2.2 contrast (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio) and
 * OKLCH (https://bottosson.github.io/posts/oklab/), where changing the lightness keeps the
 * perceived hue.
 */

/** `#rrggbb`, lower case. */
export type Hex = `#${string}`;

/** Lightness 0–1, chroma from 0, hue in degrees. */
export interface Oklch {
  readonly l: number;
  readonly c: number;
  readonly h: number;
}

type Triple = readonly [number, number, number];

/** `text` as a colour, or null when it is not `#RRGGBB`. */
export const parseHex = (text: string): Hex | null => (/^#[0-9a-f]{6}$/i.test(text) ? (text.toLowerCase() as Hex) : null);

const channels = (hex: Hex): Triple => {
  const value = Number.parseInt(hex.slice(1), 16);
  return [((value >> 16) & 255) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
};

const toLinear = (channel: number): number => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);
const fromLinear = (channel: number): number =>
  channel <= 0.0031308 ? channel * 12.92 : 1.055 * Math.max(channel, 0) ** (1 / 2.4) - 0.055;

const luminance = (hex: Hex): number => {
  const [red, green, blue] = channels(hex);
  return 0.2126 * toLinear(red) + 0.7152 * toLinear(green) + 0.0722 * toLinear(blue);
};

/** Contrast ratio of two colours, 1–21. */
export const contrast = (one: Hex, other: Hex): number => {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
};

export const toOklch = (hex: Hex): Oklch => {
  const [r, g, b] = channels(hex).map(toLinear) as unknown as Triple;
  const long = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const medium = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const short = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  const l = 0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short;
  const a = 1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short;
  const bAxis = 0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short;
  return { l, c: Math.hypot(a, bAxis), h: (Math.atan2(bAxis, a) * 180) / Math.PI };
};

const linearRgb = ({ l, c, h }: Oklch): Triple => {
  const a = c * Math.cos((h * Math.PI) / 180);
  const b = c * Math.sin((h * Math.PI) / 180);
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ];
};

const isInGamut = (rgb: Triple): boolean => rgb.every((channel) => channel >= -0.0005 && channel <= 1.0005);

/** Converts to sRGB. A colour outside its gamut loses chroma, never hue or lightness. */
export const fromOklch = (colour: Oklch): Hex => {
  const l = Math.min(Math.max(colour.l, 0), 1);
  let rgb = linearRgb({ ...colour, l });
  if (!isInGamut(rgb)) {
    let [low, high] = [0, colour.c];
    for (let step = 0; step < 20; step += 1) {
      const c = (low + high) / 2;
      if (isInGamut(linearRgb({ ...colour, l, c }))) low = c;
      else high = c;
    }
    rgb = linearRgb({ ...colour, l, c: low });
  }
  const digits = rgb.map((channel) => {
    const byte = Math.round(Math.min(Math.max(fromLinear(channel), 0), 1) * 255);
    return byte.toString(16).padStart(2, '0');
  });
  return `#${digits.join('')}`;
};

/**
 * Makes `colour` lighter or darker, as `towards` says, until it has the contrast `ratio` against
 * all `backgrounds`. The extreme (white or black) must satisfy the ratio.
 */
export const readable = (colour: Oklch, backgrounds: readonly Hex[], ratio: number, towards: 'lighter' | 'darker'): Hex => {
  const step = towards === 'lighter' ? 0.005 : -0.005;
  for (let l = colour.l; l > 0 && l < 1; l += step) {
    const candidate = fromOklch({ ...colour, l });
    if (backgrounds.every((background) => contrast(candidate, background) >= ratio)) return candidate;
  }
  return towards === 'lighter' ? '#ffffff' : '#000000';
};

/**
 * White where it is readable, else a near-black, else black (white or black always has at least
 * 4.58:1).
 */
export const onColour = (fill: Hex): Hex => {
  const { c, h } = toOklch(fill);
  const near = fromOklch({ l: 0.18, c: Math.min(c, 0.02), h });
  return ['#ffffff' as const, near].find((candidate) => contrast(candidate, fill) >= 4.5) ?? '#000000';
};
