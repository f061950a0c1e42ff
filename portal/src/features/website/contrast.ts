/** Of a colour as `#RRGGBB`, by WCAG 2.2 (https://www.w3.org/TR/WCAG22/#dfn-relative-luminance). */
const luminance = (hex: string): number => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const channel = Number.parseInt(hex.slice(start, start + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

export const isHexColour = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text);

/** The text colour that reads better on a colour, and the contrast that it has there (1–21). */
export const inkOn = (hex: string): { readonly ink: 'white' | 'black'; readonly ratio: number } => {
  const light = 1.05 / (luminance(hex) + 0.05);
  const dark = (luminance(hex) + 0.05) / 0.05;
  return light >= dark ? { ink: 'white', ratio: light } : { ink: 'black', ratio: dark };
};
