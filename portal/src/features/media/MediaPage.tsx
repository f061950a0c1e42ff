import { useInfiniteQuery } from '@tanstack/react-query';
import { useState, type DragEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import { Button } from '../../theme/Button.js';
import { FileButton } from '../../theme/FileButton.js';
import { Asked } from '../../ui/Asked.js';
import { More } from '../../ui/More.js';
import { PageHead } from '../../ui/PageHead.js';
import { Bone, HeadingBone, Skeleton } from '../../ui/skeletons.js';
import { StateCard } from '../../ui/states.js';
import { useMayEdit } from '../website/useMayEdit.js';
import classes from './MediaPage.module.css';
import { Tile } from './parts/Tile.js';
import { UploadDialog } from './parts/UploadDialog.js';
import { mediaQuery } from './queries.js';

const accepted = 'image/jpeg,image/png,image/gif,image/webp,image/avif,video/mp4,video/webm';

const MediaPage = (): ReactNode => {
  const { t } = useTranslation();
  const { websiteId = '' } = useParams();
  const may = useMayEdit(websiteId);
  const mayEdit = may === 'yes';
  const media = useInfiniteQuery(mediaQuery(websiteId));
  /** Each with a number, so that the form begins anew. */
  const [files, setFiles] = useState<readonly { readonly turn: number; readonly file: File }[]>([]);
  const [isOver, setOver] = useState(false);
  const [current] = files;
  const take = (chosen: readonly File[]): void => setFiles(chosen.map((file, turn) => ({ turn, file })));
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    take([...event.dataTransfer.files]);
  };
  const dropping = mayEdit && {
    onDragOver: (event: DragEvent) => {
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop,
  };
  const upload = mayEdit && (
    <FileButton onChange={take} accept={accepted} inputProps={{ 'aria-label': t('media.files') }}>
      {(props) => (
        <Button {...props} variant="filled">
          {t('media.upload')}
        </Button>
      )}
    </FileButton>
  );
  return (
    <Asked
      query={media}
      words={{ name: t('titles.media'), unreachable: t('faults.unavailable.title') }}
      skeleton={
        <Skeleton>
          <HeadingBone />
          <div className={classes['grid']}>
            <Bone height="280px" />
            <Bone height="280px" />
            <Bone height="280px" />
          </div>
        </Skeleton>
      }
    >
      {({ pages }) => {
        const list = pages.flatMap(({ items }) => items);
        return (
          <div className={`${classes['page'] ?? ''} ${isOver ? (classes['over'] ?? '') : ''}`} {...dropping}>
            <PageHead
              title={list.length === 0 ? t('media.none') : t('media.title', { count: pages[0]?.total ?? list.length })}
              lead={may === 'yes' ? t('media.lead') : may === 'waiting' ? undefined : t(`content.readOnly.${may}`)}
              actions={upload}
            />
            {list.length === 0 ? (
              <StateCard title={t('media.noneTitle')}>{t(mayEdit ? 'media.noneText' : 'media.noneForReaders')}</StateCard>
            ) : (
              <ul className={classes['grid']}>
                {list.map((one) => (
                  <Tile key={one.id} media={one} websiteId={websiteId} mayEdit={mayEdit} />
                ))}
              </ul>
            )}
            <More list={media} />
            {current !== undefined && (
              <UploadDialog
                key={current.turn}
                file={current.file}
                left={files.length - 1}
                websiteId={websiteId}
                onNext={() => setFiles(files.slice(1))}
                onClose={() => setFiles([])}
              />
            )}
          </div>
        );
      }}
    </Asked>
  );
};

export default MediaPage;
