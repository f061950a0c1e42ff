import { MantineProvider } from '@mantine/core';
import type { ReactNode } from 'react';
import { theme } from './theme.js';

/** What Mantine's components need around them. */
export const Themed = ({ children }: { readonly children: ReactNode }): ReactNode => (
  // The variables stand in style sheets: the policy of the page allows no others.
  <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
    {children}
  </MantineProvider>
);
