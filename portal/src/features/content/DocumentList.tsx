import type { ContentDocument } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate, useParams } from 'react-router';
import { pathTo } from '../../paths.js';
import { Button } from '../../theme/Button.js';
import { TextInput } from '../../theme/TextInput.js';
import { Asked } from '../../ui/Asked.js';
import { momentText } from '../../ui/dates.js';
import lists from '../../ui/lists.module.css';
import { Mark } from '../../ui/marks.js';
import { PageHead } from '../../ui/PageHead.js';
import { HeadingBone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { StateCard } from '../../ui/states.js';
import { useMayEdit } from '../website/useMayEdit.js';
import { actorName } from './actors.js';
import classes from './DocumentList.module.css';
import type { Collection } from './keys.js';
import { Publication } from './parts/Publication.js';
import { contentListQuery } from './queries.js';
import { fieldOfDocument } from './schema.js';
import { isUnpublished } from './unpublished.js';
import { useEditable } from './useEditable.js';

/** How a document stands towards the site. */
const useStanding = (of: Collection): ((document: ContentDocument) => string) => {
  const { t } = useTranslation();
  return (document) => {
    const { updatedAt, updatedBy, publishedAt } = document;
    if (updatedAt === undefined) return t('content.asTemplate');
    const saved = t('content.saved', {
      time: momentText(updatedAt),
      who: actorName(updatedBy, t),
    });
    if (of === 'marketing') return saved;
    if (isUnpublished(document)) {
      return `${t(publishedAt === undefined ? 'content.neverPublished' : 'content.changedSince')} ${saved}`;
    }
    return publishedAt === undefined ? saved : t('content.published', { time: momentText(publishedAt) });
  };
};

/** Whether the site shows what was written, in a sentence. */
const useAnswer = (of: Collection): ((documents: readonly ContentDocument[]) => string) => {
  const { t } = useTranslation();
  return (documents) => {
    if (of === 'marketing')
      return documents.length === 0 ? t('marketing.none') : t('marketing.title', { count: documents.length });
    const changed = documents.filter(isUnpublished).length;
    if (changed > 0) return t('content.unpublished', { count: changed });
    return t(documents.some(({ publishedAt }) => publishedAt !== undefined) ? 'content.allPublished' : 'content.untouched');
  };
};

const NewDocument = ({ of, websiteId }: { readonly of: Collection; readonly websiteId: string }): ReactNode => {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [hasTried, setTried] = useState(false);
  const isName = /^[A-Za-z0-9][A-Za-z0-9-]{0,99}$/.test(name);
  return (
    <form
      className={classes['new']}
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        const page = of === 'content' ? 'contentDocument' : 'marketingDocument';
        if (isName) void navigate(pathTo(page, { websiteId, documentId: name }));
      }}
    >
      <TextInput
        label={t(of === 'content' ? 'content.newName' : 'marketing.newName')}
        description={t(of === 'content' ? 'content.newHelp' : 'marketing.newHelp')}
        value={name}
        error={hasTried && !isName && t('content.newWrong')}
        onChange={(event) => setName(event.currentTarget.value.trim())}
        autoCapitalize="none"
        spellCheck={false}
      />
      <Button type="submit">{t('content.new')}</Button>
    </form>
  );
};

/** The documents of a website: what the site shows, or its marketing. */
export const DocumentList = ({ of }: { readonly of: Collection }): ReactNode => {
  const { t } = useTranslation();
  const { websiteId = '' } = useParams();
  const may = useMayEdit(websiteId);
  const documents = useQuery(contentListQuery(websiteId, of));
  const { data: editable } = useEditable(websiteId, of);
  const standingOf = useStanding(of);
  const answerOf = useAnswer(of);
  return (
    <Asked
      query={documents}
      words={{ name: t(`titles.${of}`), unreachable: t('content.unreachable') }}
      skeleton={
        <Skeleton>
          <HeadingBone />
          <RowBones rows={6} />
        </Skeleton>
      }
    >
      {(list) => (
        <>
          <PageHead
            title={answerOf(list)}
            lead={may === 'yes' || may === 'waiting' ? t(`${of}.lead`) : t(`content.readOnly.${may}`)}
          />
          {of === 'content' && may === 'yes' && list.length > 0 && (
            <Publication websiteId={websiteId} unpublished={list.filter(isUnpublished).length} />
          )}
          {list.length === 0 ? (
            // Who may write has the heading and the form below, which say the same.
            (of === 'content' || may !== 'yes') && <StateCard title={t('content.noneTitle')}>{t(`${of}.noneText`)}</StateCard>
          ) : (
            <ul className={`card ${lists['rows'] ?? ''}`}>
              {list.map((document) => (
                <li key={document.id} className={lists['row']}>
                  {of === 'content' && <Mark status={isUnpublished(document) ? 'in_progress' : 'done'} />}
                  <div className={lists['what']}>
                    <Link
                      className={classes['name']}
                      to={pathTo(of === 'content' ? 'contentDocument' : 'marketingDocument', {
                        websiteId,
                        documentId: document.id,
                      })}
                    >
                      {fieldOfDocument(editable, document.id)?.title ?? document.id}
                    </Link>
                    <p className="small muted">{standingOf(document)}</p>
                  </div>
                </li>
              ))}
            </ul>
          )}
          {may === 'yes' && <NewDocument of={of} websiteId={websiteId} />}
        </>
      )}
    </Asked>
  );
};
