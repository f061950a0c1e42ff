import type { Media } from '@doorstep/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { pathTo } from '../../../paths.js';
import { NativeSelect } from '../../../theme/NativeSelect.js';
import { TextInput } from '../../../theme/TextInput.js';
import { More } from '../../../ui/More.js';
import { MediaPicture } from '../../media/parts/MediaPicture.js';
import { mediaQuery } from '../../media/queries.js';
import { useNamedMedia } from '../../media/useNamedMedia.js';
import { isObject, withAt } from '../json.js';
import classes from './PictureInput.module.css';

interface PictureInputProps {
  readonly title: string;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly issue: string | undefined;
  readonly websiteId: string;
}

const textAt = (value: unknown, name: string): string => {
  const part = isObject(value) ? value[name] : undefined;
  return typeof part === 'string' ? part : '';
};

/** Chooses one of the website's pictures. */
export const PictureInput = ({ title, value, onChange, issue, websiteId }: PictureInputProps): ReactNode => {
  const { t } = useTranslation();
  const list = useInfiniteQuery(mediaQuery(websiteId));
  const media = list.data?.pages.flatMap(({ items }) => items).filter(({ kind }) => kind === 'image') ?? [];
  const mediaId = textAt(value, 'mediaId');
  const named = useNamedMedia(websiteId, mediaId);
  const chosen = named?.kind === 'image' ? named : undefined;
  const isListed = media.some(({ id }) => id === mediaId);
  const labelOf = (one: Media | null | undefined): string => {
    if (one === null) return t('content.pictureGone');
    return one === undefined ? '…' : (one.alt ?? one.name);
  };
  return (
    <fieldset className={classes['group']}>
      <legend>{title}</legend>
      {chosen !== undefined && <MediaPicture media={chosen} websiteId={websiteId} className={classes['picture'] ?? ''} />}
      <NativeSelect
        label={t('content.picture')}
        value={mediaId}
        error={issue}
        data={[
          { value: '', label: t('content.noPicture') },
          ...media.map((one) => ({ value: one.id, label: labelOf(one) })),
          ...(mediaId !== '' && !isListed ? [{ value: mediaId, label: labelOf(named) }] : []),
        ]}
        onChange={({ currentTarget: { value: next } }) => onChange(next === '' ? undefined : { mediaId: next })}
      />
      <More list={list}>{t('content.olderPictures')}</More>
      {mediaId !== '' && (
        <TextInput
          label={t('content.pictureAlt')}
          description={t('content.pictureAltHelp')}
          value={textAt(value, 'alt')}
          placeholder={chosen?.alt ?? ''}
          onChange={({ currentTarget: { value: text } }) => onChange(withAt(value, ['alt'], text === '' ? undefined : text))}
        />
      )}
      <p className="small muted">
        <Link to={pathTo('media', { websiteId })}>{t('content.toMedia')}</Link>
      </p>
    </fieldset>
  );
};
