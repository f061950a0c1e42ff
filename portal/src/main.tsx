import './theme/mantine.css';
import './theme/tokens.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/queryClient.js';
import { App } from './app.js';
import { startI18n } from './i18n/i18n.js';
import { base } from './page.js';
import { startLoading } from './routes.js';
import { WithoutTexts } from './ui/WithoutTexts.js';
import { GuardedRouter } from './ui/router/GuardedRouter.js';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no place for the portal');

// Before the texts are there: the page's code and data come at the same time.
startLoading(location.pathname);
const hasTexts = await startI18n().then(
  () => true,
  () => false,
);

createRoot(root).render(
  <StrictMode>
    {hasTexts ? (
      <QueryClientProvider client={queryClient}>
        <GuardedRouter basename={`${base}/app`}>
          <App />
        </GuardedRouter>
      </QueryClientProvider>
    ) : (
      <WithoutTexts />
    )}
  </StrictMode>,
);
