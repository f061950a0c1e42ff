import type { Media } from '@doorstep/sdk';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { doorstep } from '../../../api/doorstep.js';
import { Button } from '../../../theme/Button.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import { useNotice } from '../../../ui/notices.js';
import { sizeText } from '../../../ui/numbers.js';
import { useMutation } from '@tanstack/react-query';
import { useRemove, useUndoRemove } from '../mutations.js';
import { AltDialog } from './AltDialog.js';
import { MediaPicture } from './MediaPicture.js';
import classes from './Tile.module.css';

interface TileProps {
  readonly media: Media;
  readonly websiteId: string;
  readonly mayEdit: boolean;
}

const seconds = (ms: number): string => {
  const whole = Math.round(ms / 1000);
  return `${String(Math.floor(whole / 60))}:${String(whole % 60).padStart(2, '0')}`;
};

/** A picture or a video, what it shows, and what can be done with it. */
export const Tile = ({ media, websiteId, mayEdit }: TileProps): ReactNode => {
  const { t } = useTranslation();
  const notify = useNotice();
  const remove = useRemove(websiteId);
  const undo = useUndoRemove(websiteId);
  const [isDescribing, setDescribing] = useState(false);
  const save = useMutation({
    mutationFn: () => doorstep.websites.media.url(websiteId, media.id, { disposition: 'attachment' }),
    onSuccess: ({ url }) => location.assign(url),
  });
  const { kind, name, alt, size, width, height, durationMs } = media;
  return (
    <li className={`card ${classes['tile'] ?? ''}`}>
      {kind === 'image' ? (
        <MediaPicture media={media} websiteId={websiteId} />
      ) : (
        <div className={classes['video']}>
          <span aria-hidden="true" className={classes['play']} />
          {durationMs !== undefined && <span className="num small">{seconds(durationMs)}</span>}
        </div>
      )}
      <div className={classes['words']}>
        <p>{alt ?? <span className="muted">{t('media.noAlt')}</span>}</p>
        <p className="small muted">
          {name} · {t(`media.kinds.${kind}`)}, {width} × {height}, {sizeText(size)}
        </p>
        <div className={classes['actions']}>
          <Button size="xs" loading={save.isPending} aria-label={t('media.downloadOf', { name })} onClick={() => save.mutate()}>
            {t('media.download')}
          </Button>
          {mayEdit && (
            <>
              <Button size="xs" aria-label={t('media.describeOf', { name })} onClick={() => setDescribing(true)}>
                {t('media.describe')}
              </Button>
              <Button
                size="xs"
                loading={remove.isPending}
                aria-label={t('media.removeOf', { name })}
                onClick={() =>
                  remove.mutate(media, {
                    onSuccess: () => notify({ words: t('media.removed', { name }), undo: () => undo.mutateAsync(media) }),
                  })
                }
              >
                {t('common.remove')}
              </Button>
            </>
          )}
        </div>
        <FaultLine error={remove.error ?? save.error} />
      </div>
      {isDescribing && <AltDialog media={media} websiteId={websiteId} onClose={() => setDescribing(false)} />}
    </li>
  );
};
