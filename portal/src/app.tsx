import { Suspense, type ReactNode } from 'react';
import { Navigate, Route, Routes, useLocation } from 'react-router';
import { Frame } from './ui/frame/Frame.js';
import { ViewingBanner } from './ui/frame/ViewingBanner.js';
import { StatusBar } from './live/StatusBar.js';
import { Announcer } from './ui/Announcer.js';
import { Boundary } from './ui/Boundary.js';
import { NotFoundPage } from './ui/NotFoundPage.js';
import { Notices } from './ui/notices.js';
import { PageTitle } from './ui/PageTitle.js';
import { Waiting } from './ui/states.js';
import { SessionGuard } from './session/SessionGuard.js';
import { isSignedIn } from './session/session.js';
import { paths, pathTo } from './paths.js';
import { routes, type Route as Page } from './routes.js';

/** Leads who is not signed in to do so, and back. */
const SignedIn = ({ children }: { readonly children: ReactNode }): ReactNode => {
  const { pathname, search } = useLocation();
  if (!isSignedIn()) return <Navigate to={pathTo('signIn')} replace state={{ back: `/app${pathname}${search}` }} />;
  return <SessionGuard>{children}</SessionGuard>;
};

const PageOf = ({ page }: { readonly page: Page }): ReactNode => {
  const { Component, title, who, place } = page;
  const content = (
    <Suspense fallback={<Waiting />}>
      <Component />
    </Suspense>
  );
  if (place === 'alone') {
    const alone = (
      <Boundary>
        <PageTitle title={title} />
        {content}
      </Boundary>
    );
    if (who === 'everybody') return alone;
    return (
      <SignedIn>
        <ViewingBanner />
        {alone}
      </SignedIn>
    );
  }
  return (
    <SignedIn>
      <Frame page={page}>{content}</Frame>
    </SignedIn>
  );
};

/** The pages by their paths. */
export const App = (): ReactNode => (
  <Announcer>
    <Notices>
      <StatusBar />
      {/* Of what stands around the pages. */}
      <Boundary>
        <Routes>
          {routes.map((page) => (
            <Route key={page.page} path={paths[page.page]} element={<PageOf page={page} />} />
          ))}
          <Route path="*" element={<NotFoundPage />} />
        </Routes>
      </Boundary>
    </Notices>
  </Announcer>
);
