import type { ReactNode } from 'react';
import { DocumentEditor } from './DocumentEditor.js';

const MarketingDocumentPage = (): ReactNode => <DocumentEditor of="marketing" />;

export default MarketingDocumentPage;
