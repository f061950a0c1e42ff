import type { ContentDocument, ContentVersion } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import { useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { Button } from '../../../theme/Button.js';
import { momentText, Time } from '../../../ui/dates.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import lists from '../../../ui/lists.module.css';
import { useNotice } from '../../../ui/notices.js';
import { FaultCard, Waiting } from '../../../ui/states.js';
import { actorName } from '../actors.js';
import { differencesOf, nameOf } from '../merge.js';
import { useRestore, type Place } from '../mutations.js';
import { versionQuery, versionsQuery } from '../queries.js';
import { titleAt, type Field } from '../schema.js';
import { Reading } from './Reading.js';
import classes from './Versions.module.css';

interface VersionsProps {
  readonly place: Place;
  readonly document: ContentDocument;
  readonly field: Field | null;
  readonly mayEdit: boolean;
  /** Restoring would lose what is not saved. */
  readonly dirty: boolean;
}

/** What was different then. */
const Look = ({ place, document, field, mayEdit, dirty, hash }: VersionsProps & { readonly hash: string }): ReactNode => {
  const { t } = useTranslation();
  const notify = useNotice();
  const restore = useRestore(place);
  const version = useQuery(versionQuery(place.websiteId, place.of, place.documentId, hash));
  if (version.isError && version.data === undefined) return <FaultCard error={version.error} again={() => version.refetch()} />;
  if (version.data === undefined) return <Waiting />;
  const then = version.data.body;
  const differences = differencesOf(then, then, document.body);
  return (
    <div className={classes['look']}>
      {differences.length === 0 && <p className="muted">{t('content.versions.same')}</p>}
      {differences.map((difference) => (
        <div key={nameOf(difference)} className={classes['difference']}>
          <h3>{titleAt(field, difference.path) || t('content.versions.all')}</h3>
          <div>
            <p className="small muted">{t('content.versions.then')}</p>
            <Reading value={difference.mine} />
          </div>
          <div>
            <p className="small muted">{t('content.versions.now')}</p>
            <Reading value={difference.theirs} />
          </div>
        </div>
      ))}
      <FaultLine error={restore.error} />
      {mayEdit && differences.length > 0 && (
        <div>
          <Button
            loading={restore.isPending}
            disabled={dirty}
            onClick={() =>
              restore.mutate(
                { hash, baseHash: document.hash },
                { onSuccess: () => notify({ words: t('content.versions.restored') }) },
              )
            }
          >
            {t('content.versions.restore')}
          </Button>
          {dirty && <p className="small muted">{t('content.versions.saveFirst')}</p>}
        </div>
      )}
    </div>
  );
};

/** Who saved the document, and when; what it said then. */
export const Versions = (props: VersionsProps): ReactNode => {
  const { t } = useTranslation();
  const id = useId();
  const { place, document } = props;
  const [search, setSearch] = useSearchParams();
  const versions = useQuery({
    ...versionsQuery(place.websiteId, place.of, place.documentId),
    // What nobody has saved has no versions to ask for.
    enabled: document.updatedAt !== undefined,
  });
  const shown = search.get('version');
  const list = versions.data ?? [];
  const look = (hash: string | null): void => setSearch(hash === null ? {} : { version: hash }, { replace: true });
  /** A version that was saved twice stands there twice; one of them is looked at. */
  const isFirst = ({ hash }: ContentVersion, at: number): boolean => list.findIndex((one) => one.hash === hash) === at;
  return (
    <section className={lists['section']} aria-labelledby={id}>
      <h2 id={id}>{t('content.versions.title')}</h2>
      {versions.isError && versions.data === undefined && <FaultCard error={versions.error} again={() => versions.refetch()} />}
      {document.updatedAt === undefined && <p className="muted">{t('content.versions.none')}</p>}
      {list.length > 0 && (
        <ul className={`card ${lists['rows'] ?? ''}`}>
          {list.map((version, index) => {
            const isShown = shown === version.hash && isFirst(version, index);
            const time = momentText(version.at);
            return (
              <li key={`${version.at} ${version.hash}`} className={lists['row']}>
                <div className={lists['what']}>
                  <Time at={version.at} kind="moment">
                    {time}
                  </Time>
                  <p className="small muted">
                    {actorName(version.actor, t)}
                    {index === 0 && ` · ${t('content.versions.current')}`}
                    {version.hash === document.publishedHash && isFirst(version, index) && ` · ${t('content.versions.onSite')}`}
                  </p>
                </div>
                {index > 0 && isFirst(version, index) && (
                  <Button
                    size="xs"
                    aria-expanded={isShown}
                    aria-label={t(isShown ? 'content.versions.closeOf' : 'content.versions.lookOf', { time })}
                    onClick={() => look(isShown ? null : version.hash)}
                  >
                    {t(isShown ? 'common.close' : 'content.versions.look')}
                  </Button>
                )}
                {isShown && <Look {...props} hash={version.hash} />}
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
};
