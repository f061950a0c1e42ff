import type { ReactNode } from 'react';
import { DocumentEditor } from './DocumentEditor.js';

const ContentDocumentPage = (): ReactNode => <DocumentEditor of="content" />;

export default ContentDocumentPage;
