import type { ReactNode } from 'react';
import { useMe } from '../me/queries.js';
import { AgencyHome } from './parts/AgencyHome.js';
import { ClientHome } from './parts/ClientHome.js';
import { seesAgency } from './queries.js';

/** What somebody sees first: admins what needs them, clients their websites. */
const HomePage = (): ReactNode => {
  return seesAgency(useMe()) ? <AgencyHome /> : <ClientHome />;
};

export default HomePage;
