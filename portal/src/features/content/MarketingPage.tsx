import type { ReactNode } from 'react';
import { DocumentList } from './DocumentList.js';

const MarketingPage = (): ReactNode => <DocumentList of="marketing" />;

export default MarketingPage;
