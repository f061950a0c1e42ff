import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import { MediaPicture } from '../../media/parts/MediaPicture.js';
import { useNamedMedia } from '../../media/useNamedMedia.js';
import { isList, isObject } from '../json.js';
import { titleAt, type Field } from '../schema.js';
import classes from './Reading.module.css';

/** The part of a field that a step leads to. */
const below = (field: Field | null, step: string): Field | null => {
  if (field?.kind === 'object') return field.fields.find(({ name }) => name === step)?.field ?? null;
  return null;
};

/** Fields in the order of the form that they are written in; others behind them. */
const inOrder = <T,>(entries: readonly (readonly [string, T])[], field: Field | null): readonly (readonly [string, T])[] => {
  const names = field?.kind === 'object' ? field.fields.map(({ name }) => name) : [];
  const placeOf = (name: string): number => (names.includes(name) ? names.indexOf(name) : names.length);
  return entries.toSorted(([one], [other]) => placeOf(one) - placeOf(other));
};

/** A picture of the website, which a document names by its id. */
const ReadPicture = ({ mediaId, alt }: { readonly mediaId: string; readonly alt: unknown }): ReactNode => {
  const { t } = useTranslation();
  const { websiteId = '' } = useParams();
  const picture = useNamedMedia(websiteId, mediaId);
  if (picture === undefined) return null;
  if (picture === null) return <span className="muted">{t('content.pictureGone')}</span>;
  return (
    <>
      <MediaPicture media={picture} websiteId={websiteId} className={classes['picture'] ?? ''} />
      <p>{typeof alt === 'string' ? alt : (picture.alt ?? picture.name)}</p>
    </>
  );
};

/** A document, or a part of one, to be read. */
export const Reading = ({ value, field = null }: { readonly value: unknown; readonly field?: Field | null }): ReactNode => {
  const { t } = useTranslation();
  if (value === undefined || value === null || value === '') return <span className="muted">{t('content.nothing')}</span>;
  if (typeof value === 'boolean') return t(value ? 'content.yes' : 'content.no');
  if (isList(value)) {
    if (value.length === 0) return <span className="muted">{t('content.nothing')}</span>;
    return (
      <ul className={classes['list']}>
        {value.map((part, index) => (
          <li key={`${String(index)} ${JSON.stringify(part)}`}>
            <Reading value={part} field={field?.kind === 'list' ? field.item : null} />
          </li>
        ))}
      </ul>
    );
  }
  if (isObject(value)) {
    const { mediaId, alt } = value;
    if (typeof mediaId === 'string') return <ReadPicture mediaId={mediaId} alt={alt} />;
    return (
      <dl className={classes['fields']}>
        {inOrder(Object.entries(value), field).map(([name, part]) => (
          <div key={name}>
            <dt>{titleAt(field, [name])}</dt>
            <dd>
              <Reading value={part} field={below(field, name)} />
            </dd>
          </div>
        ))}
      </dl>
    );
  }
  return <span className={classes['text']}>{typeof value === 'string' ? value : JSON.stringify(value)}</span>;
};
