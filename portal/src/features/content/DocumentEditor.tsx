import type { ContentDocument } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useParams } from 'react-router';
import { isStale } from '../../api/isStale.js';
import { pathTo } from '../../paths.js';
import { Button } from '../../theme/Button.js';
import { Asked } from '../../ui/Asked.js';
import { momentText } from '../../ui/dates.js';
import { fieldErrors } from '../../ui/fieldErrors.js';
import { useLeaveGuard } from '../../ui/leaving.js';
import { useNotice } from '../../ui/notices.js';
import { PageHead } from '../../ui/PageHead.js';
import { SaveBar } from '../../ui/SaveBar.js';
import { Bone, HeadingBone, Skeleton } from '../../ui/skeletons.js';
import { Loaded, StateCard } from '../../ui/states.js';
import { websiteQuery } from '../website/queries.js';
import { useMayEdit } from '../website/useMayEdit.js';
import { actorName } from './actors.js';
import classes from './DocumentEditor.module.css';
import { isSame } from './json.js';
import type { Collection } from './keys.js';
import { useSave, type Place } from './mutations.js';
import { FieldInput } from './parts/FieldInput.js';
import { holdsNotJson, JsonInput } from './parts/JsonInput.js';
import { Merge } from './parts/Merge.js';
import { Reading } from './parts/Reading.js';
import { Versions } from './parts/Versions.js';
import { contentDocumentQuery } from './queries.js';
import { fieldOfDocument, type Field } from './schema.js';
import { isUnpublished } from './unpublished.js';
import { useEditable } from './useEditable.js';

/** What an edit began from. */
interface Base {
  /** `null`: nobody had saved it. */
  readonly hash: string | null;
  readonly body: unknown;
}

const baseOf = (document: ContentDocument | null): Base => ({ hash: document?.hash ?? null, body: document?.body ?? {} });

interface FormProps {
  readonly place: Place;
  /** As it is now; null: nobody has saved it. */
  readonly document: ContentDocument | null;
  readonly field: Field | null;
  /** Reads it again. */
  readonly refresh: () => Promise<unknown>;
}

/** The form, what is not saved in it, and what happens when somebody else saves meanwhile. */
const DocumentForm = ({ place, document, field, refresh }: FormProps): ReactNode => {
  const { t } = useTranslation();
  const notify = useNotice();
  const [base, setBase] = useState(() => baseOf(document));
  const [draft, setDraft] = useState(base.body);
  const [isMerging, setMerging] = useState(false);
  const save = useSave(place);
  const form = useRef<HTMLDivElement>(null);
  const isDirty = !isSame(draft, base.body);
  useLeaveGuard(isDirty);
  const now = baseOf(document);
  if (now.hash !== base.hash && !isDirty) {
    setBase(now);
    setDraft(now.body);
    setMerging(false);
  }
  const issues = fieldErrors(save.error);
  useEffect(() => {
    if (save.error !== null) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [save.error]);

  const write = (body: unknown, baseHash: string | null): void => {
    if (holdsNotJson(body)) {
      form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
      return;
    }
    setDraft(body);
    save.mutate(
      { body, baseHash },
      {
        onSuccess: (saved) => {
          setBase(baseOf(saved));
          setMerging(false);
          notify({ words: t(place.of === 'content' ? 'content.savedNotice' : 'marketing.savedNotice') });
        },
        onError: (error) => {
          if (!isStale(error)) return;
          // Merged already: what they had saved is now what both began from.
          if (isMerging && document !== null) setBase(baseOf(document));
          void refresh().then(() => setMerging(true));
        },
      },
    );
  };

  const isNewer = now.hash !== base.hash && isDirty;
  if (isMerging && isNewer && document !== null) {
    return (
      <Merge
        key={document.hash}
        field={field}
        base={base.body}
        mine={draft}
        theirs={document}
        saving={save.isPending}
        error={isStale(save.error) ? null : save.error}
        onSave={(body) => write(body, document.hash)}
        onDropMine={() => {
          setBase(now);
          setDraft(now.body);
          setMerging(false);
          save.reset();
        }}
      />
    );
  }
  return (
    <>
      {isNewer && document?.updatedBy !== undefined && (
        <StateCard
          title={t('content.newer', { who: actorName(document.updatedBy, t) })}
          actions={<Button onClick={() => setMerging(true)}>{t('content.compare')}</Button>}
        >
          {t('content.newerText')}
        </StateCard>
      )}
      <div ref={form} className={`card ${classes['form'] ?? ''}`}>
        {field === null ? (
          <JsonInput label={t('content.text')} value={draft} onChange={setDraft} issue={issues['body']} />
        ) : (
          <FieldInput
            field={field}
            value={draft}
            onChange={setDraft}
            place="body"
            issues={issues}
            required
            websiteId={place.websiteId}
            label=""
          />
        )}
      </div>
      <SaveBar
        dirty={isDirty || (base.hash === null && save.isPending)}
        saving={save.isPending}
        error={isStale(save.error) ? null : save.error}
        onSave={() => write(draft, base.hash)}
        onDiscard={() => {
          setDraft(base.body);
          save.reset();
        }}
      />
      {document !== null && <Versions place={place} document={document} field={field} mayEdit dirty={isDirty} />}
    </>
  );
};

const useLead = (of: Collection): ((document: ContentDocument | null) => string) => {
  const { t } = useTranslation();
  return (document) => {
    if (document === null) return t('content.isNew');
    const { updatedAt, updatedBy } = document;
    if (updatedAt === undefined) return t('content.asTemplate');
    const saved = t('content.saved', { time: momentText(updatedAt), who: actorName(updatedBy, t) });
    if (of === 'marketing') return saved;
    return `${saved} ${t(isUnpublished(document) ? 'content.notOnSite' : 'content.onSite')}`;
  };
};

/** A document, to be edited or read. */
export const DocumentEditor = ({ of }: { readonly of: Collection }): ReactNode => {
  const { t } = useTranslation();
  const { websiteId = '', documentId = '' } = useParams();
  const may = useMayEdit(websiteId);
  const website = useQuery(websiteQuery(websiteId));
  const document = useQuery(contentDocumentQuery(websiteId, of, documentId));
  const editable = useEditable(websiteId, of);
  const leadOf = useLead(of);
  const place = { websiteId, of, documentId };
  const bones = (
    <Skeleton>
      <HeadingBone />
      <Bone height="420px" />
    </Skeleton>
  );
  return (
    <Asked query={document} words={{ name: t(`titles.${of}`), unreachable: t('content.unreachable') }} skeleton={bones}>
      {(data) => {
        if (may === 'waiting')
          return (
            <Loaded query={website} skeleton={bones}>
              {() => bones}
            </Loaded>
          );
        if (editable.isPending) return bones;
        const field = fieldOfDocument(editable.data, documentId);
        const back = (
          <Link to={pathTo(of, { websiteId })} className="small">
            {t('content.all')}
          </Link>
        );
        const head = <PageHead title={field?.title ?? documentId} sub={back} lead={leadOf(data)} />;
        if (data === null && may !== 'yes') {
          return (
            <>
              {head}
              <StateCard title={t('faults.missing.title')}>{t('content.missing')}</StateCard>
            </>
          );
        }
        if (may !== 'yes') {
          return (
            <>
              {head}
              <p>{t(`content.readOnly.${may}`)}</p>
              <div className={`card ${classes['form'] ?? ''}`}>
                <Reading value={data?.body} field={field} />
              </div>
              {data !== null && <Versions place={place} document={data} field={field} mayEdit={false} dirty={false} />}
            </>
          );
        }
        return (
          <>
            {head}
            <DocumentForm key={documentId} place={place} document={data} field={field} refresh={document.refetch} />
          </>
        );
      }}
    </Asked>
  );
};
