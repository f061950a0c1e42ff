import type { ReactNode } from 'react';
import { viewedAs } from '../../session/viewAs.js';
import { useMe } from '../me/queries.js';
import { AgencyHome } from './parts/AgencyHome.js';
import { ClientHome } from './parts/ClientHome.js';

/** What somebody sees first: admins what needs them, clients their websites. */
const HomePage = (): ReactNode => {
  const { role } = useMe();
  return role === 'admin' && viewedAs === null ? <AgencyHome /> : <ClientHome />;
};

export default HomePage;
