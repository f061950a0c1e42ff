import type { ReactNode } from 'react';
import { DocumentList } from './DocumentList.js';

const ContentPage = (): ReactNode => <DocumentList of="content" />;

export default ContentPage;
