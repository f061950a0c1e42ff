import classes from './buttonLook.module.css';

/**
 * The look of a button, for the pages that everybody loads first: Mantine's brings ten times as much.
 * Of links too.
 */
export const buttonLook = (look: 'primary' | 'default' | 'quiet' = 'default'): string =>
  `${classes['button'] ?? ''} ${classes[look] ?? ''}`;
