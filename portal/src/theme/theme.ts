import { createTheme, type MantineColorsTuple } from '@mantine/core';

/** Colours are custom properties (`tokens.css`): the agency's colour is known when the page is loaded. */
const brand: MantineColorsTuple = [
  'var(--brand-wash)',
  'var(--brand-wash)',
  'var(--brand-wash)',
  'var(--brand-text)',
  'var(--brand-text)',
  'var(--brand-text)',
  'var(--brand)',
  'var(--brand)',
  'var(--brand)',
  'var(--brand)',
];

/** The header of a dialog is none of the page, which has one of its own. */
const notTheBanner = { header: { role: 'presentation' } };

/**
 * Defaults of Mantine's components, as plain values: those that a page does not use are not loaded
 * for it. Each component has a file here, which brings its style sheet along.
 */
export const theme = createTheme({
  colors: { brand },
  primaryColor: 'brand',
  primaryShade: 8,
  fontFamily: 'var(--font)',
  defaultRadius: 9,
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { variant: 'default', size: 'sm' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    // Locking the scroll writes a style element, which the policy of the page refuses.
    Modal: {
      defaultProps: {
        centered: true,
        radius: 12,
        overlayProps: { backgroundOpacity: 0.45 },
        lockScroll: false,
        attributes: notTheBanner,
      },
    },
    Drawer: { defaultProps: { lockScroll: false, attributes: notTheBanner } },
    TextInput: { defaultProps: { size: 'sm' } },
    Menu: { defaultProps: { shadow: 'md', radius: 9 } },
  },
});
