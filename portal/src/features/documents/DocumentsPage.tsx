import type { Document } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState, type DragEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import { brandName } from '../../page.js';
import { Button } from '../../theme/Button.js';
import { FileButton } from '../../theme/FileButton.js';
import { dayText } from '../../ui/dates.js';
import { FaultLine } from '../../ui/FaultLine.js';
import { useNotice } from '../../ui/notices.js';
import { PageHead } from '../../ui/PageHead.js';
import { HeadingBone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { Loaded, StateCard } from '../../ui/states.js';
import { useIsAdmin } from '../../ui/useMayWrite.js';
import { websiteQuery } from '../website/queries.js';
import classes from './documents.module.css';
import { useDelete, useDownload, useRestore } from './mutations.js';
import { DocumentRow } from './parts/DocumentRow.js';
import { PreviewDialog } from './parts/PreviewDialog.js';
import { UploadRow } from './parts/UploadRow.js';
import { documentsQuery } from './queries.js';
import { useUploads } from './useUploads.js';

const Documents = ({
  websiteId,
  documents,
}: {
  readonly websiteId: string;
  readonly documents: readonly Document[];
}): ReactNode => {
  const { t } = useTranslation();
  const isAdmin = useIsAdmin();
  const { data: website } = useQuery(websiteQuery(websiteId));
  const mayChange = isAdmin && website?.archivedAt === undefined;
  const notify = useNotice();
  const { uploads, add, forget } = useUploads(websiteId);
  const [previewed, setPreviewed] = useState<Document | null>(null);
  const [isOver, setOver] = useState(false);
  const download = useDownload(websiteId);
  const restore = useRestore(websiteId);
  const remove = useDelete(websiteId);

  const removeWithUndo = (document: Document): void =>
    remove.mutate(document, {
      onSuccess: () =>
        notify({ words: t('documents.deleted', { name: document.name }), undo: () => restore.mutateAsync(document) }),
    });
  const dropTarget = {
    onDragOver: (event: DragEvent) => {
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      add([...event.dataTransfer.files]);
    },
  };

  const fault = download.error ?? remove.error;
  const newest = documents[0];
  const lead =
    newest === undefined
      ? t(mayChange ? 'documents.noneYet' : 'documents.noneForYou', { brand: brandName })
      : t('documents.lead', { count: documents.length, name: newest.name, day: dayText(newest.createdAt, 'moment') });
  return (
    <div className={`${classes['page'] ?? ''} ${isOver ? (classes['over'] ?? '') : ''}`} {...(mayChange && dropTarget)}>
      <PageHead
        title={t('titles.documents')}
        sub={website?.name}
        lead={lead}
        actions={
          mayChange && (
            <FileButton onChange={add}>
              {(props) => (
                <Button variant="filled" {...props}>
                  {t('documents.upload')}
                </Button>
              )}
            </FileButton>
          )
        }
      />
      {mayChange && <p className={classes['drop']}>{t('documents.drop')}</p>}
      {!mayChange && documents.length === 0 && (
        <StateCard title={t('documents.none')}>{t('documents.noneForYou', { brand: brandName })}</StateCard>
      )}
      {fault !== null && <FaultLine error={fault} />}
      {uploads.length > 0 && (
        <ul className={`card ${classes['rows'] ?? ''}`} aria-label={t('documents.uploads')}>
          {uploads.map((upload) => (
            <UploadRow key={upload.key} upload={upload} onForget={() => forget(upload.key)} />
          ))}
        </ul>
      )}
      {documents.length > 0 && (
        <ul className={`card ${classes['rows'] ?? ''}`} aria-label={t('titles.documents')}>
          {documents.map((document) => (
            <DocumentRow
              key={document.id}
              document={document}
              mayChange={mayChange}
              onPreview={() => setPreviewed(document)}
              onDownload={() => download.mutate(document)}
              onDelete={() => removeWithUndo(document)}
            />
          ))}
        </ul>
      )}
      {previewed !== null && (
        <PreviewDialog document={previewed} onDownload={() => download.mutate(previewed)} onClose={() => setPreviewed(null)} />
      )}
    </div>
  );
};

/** What papers are there, and how do I get them? */
const DocumentsPage = (): ReactNode => {
  const { websiteId = '' } = useParams();
  const documents = useQuery(documentsQuery(websiteId));
  return (
    <Loaded
      query={documents}
      skeleton={
        <Skeleton>
          <HeadingBone />
          <RowBones />
        </Skeleton>
      }
    >
      {(found) => <Documents key={websiteId} websiteId={websiteId} documents={found} />}
    </Loaded>
  );
};

export default DocumentsPage;
