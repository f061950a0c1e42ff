import type { Media } from '@doorstep/sdk';
import { useInViewport } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { mediaAddressQuery } from '../queries.js';
import classes from './MediaPicture.module.css';

interface MediaPictureProps {
  readonly media: Media;
  readonly websiteId: string;
  readonly className?: string;
}

/** A picture of the website, asked for once it is in sight. */
export const MediaPicture = ({ media: { id, alt, width, height }, websiteId, className = '' }: MediaPictureProps): ReactNode => {
  const { t } = useTranslation();
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  const [wasSeen, setSeen] = useState(false);
  if (inViewport && !wasSeen) setSeen(true);
  const { data, isError, refetch } = useQuery({ ...mediaAddressQuery(websiteId, id), enabled: wasSeen });
  const [hasFailed, setFailed] = useState(false);
  return (
    <div ref={ref} className={`${classes['frame'] ?? ''} ${className}`}>
      {data !== undefined && !hasFailed && (
        <img src={data.url} alt={alt ?? ''} width={width} height={height} onError={() => setFailed(true)} />
      )}
      {(isError || hasFailed) && (
        <button
          type="button"
          className={classes['again']}
          onClick={() => {
            setFailed(false);
            void refetch();
          }}
        >
          {t('media.notShown')}
        </button>
      )}
    </div>
  );
};
