import { DoorstepError, type DeliveryBlock, type Website } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useParams } from 'react-router';
import { pathTo } from '../../paths.js';
import { Button } from '../../theme/Button.js';
import { dayText } from '../../ui/dates.js';
import { FaultLine } from '../../ui/FaultLine.js';
import { fieldErrors } from '../../ui/fieldErrors.js';
import { PageHead } from '../../ui/PageHead.js';
import { PageTitle } from '../../ui/PageTitle.js';
import { SaveBar } from '../../ui/SaveBar.js';
import { Bone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { Loaded, StateCard } from '../../ui/states.js';
import { useMayWrite } from '../../ui/useMayWrite.js';
import { visibleChangesQuery } from '../status/queries.js';
import { lastMove } from '../status/sentences.js';
import { websiteQuery } from '../website/queries.js';
import classes from './delivery.module.css';
import { useDeliverySetUp } from './mutations.js';
import { ClientView } from './parts/ClientView.js';
import { EtaFields } from './parts/EtaFields.js';
import { MergeDialog } from './parts/MergeDialog.js';
import { PreviewFields } from './parts/PreviewFields.js';
import { SavedMark } from './parts/SavedMark.js';
import { StepList } from './parts/StepList.js';
import { savedDeliveryQuery } from './queries.js';
import { useEditor } from './useEditor.js';

const PlanBones = (): ReactNode => (
  <Skeleton>
    <div className={classes['split']}>
      <RowBones rows={6} />
      <div className={`card ${classes['seen'] ?? ''}`}>
        <Bone width="60%" height="1.5rem" />
        <Bone />
      </div>
    </div>
  </Skeleton>
);

const NotSetUp = ({ websiteId, mayWrite }: { readonly websiteId: string; readonly mayWrite: boolean }): ReactNode => {
  const { t } = useTranslation();
  const { mutate: setUp, isPending, error } = useDeliverySetUp(websiteId);
  return (
    <StateCard
      title={t('delivery.notSetUp')}
      actions={
        mayWrite && (
          <Button variant="filled" loading={isPending} onClick={() => setUp()}>
            {t('delivery.setUp')}
          </Button>
        )
      }
    >
      <p>{t('delivery.notSetUpText')}</p>
      <FaultLine error={error} />
    </StateCard>
  );
};

interface EditorProps {
  readonly website: Website;
  readonly saved: DeliveryBlock;
}

const DeliveryEditor = ({ website, saved }: EditorProps): ReactNode => {
  const { t } = useTranslation();
  const editor = useEditor(website.id, saved);
  const mayWrite = useMayWrite() && website.archivedAt === undefined;
  const { data: visible } = useQuery(visibleChangesQuery(website.id));
  const changes = visible?.changes ?? [];
  const { failure } = editor;
  const issues = fieldErrors(failure?.error);
  return (
    <>
      <PageHead title={website.name} sub={t('titles.delivery')} actions={mayWrite && <SavedMark editor={editor} />} />
      {website.archivedAt !== undefined && (
        <p className={`card ${classes['note'] ?? ''}`}>
          {t('delivery.archived', { day: dayText(website.archivedAt, 'moment') })}{' '}
          <Link to={pathTo('settings', { websiteId: website.id })}>{t('titles.settings')}</Link>
        </p>
      )}
      {failure !== null && failure.operation !== 'edit' && <FaultLine error={failure.error} />}
      <div
        className={classes['split']}
        onKeyDown={(event) => {
          if (!(event.metaKey || event.ctrlKey)) return;
          if (event.key === 's') {
            event.preventDefault();
            if (editor.isDirty && !editor.isSaving) void editor.save();
          }
          // What is typed has an undo of the browser's own.
          const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
          // With Shift it is Redo.
          if (event.key === 'z' && !event.shiftKey && !isTyping && mayWrite && editor.last?.isUndo === false) {
            event.preventDefault();
            if (!event.repeat) void editor.undo(editor.last);
          }
        }}
      >
        <fieldset className={`card ${classes['form'] ?? ''}`} disabled={!mayWrite} aria-label={t('titles.delivery')}>
          <EtaFields editor={editor} issues={issues} lastMove={lastMove(changes)} />
          <StepList editor={editor} mayWrite={mayWrite} issues={issues} />
          <PreviewFields editor={editor} issues={issues} />
        </fieldset>
        <ClientView website={website} editor={editor} changes={changes} />
      </div>
      <SaveBar
        dirty={editor.isDirty}
        saving={editor.isSaving}
        error={failure?.operation === 'edit' ? failure.error : undefined}
        onSave={() => editor.save()}
        onDiscard={editor.discard}
      />
      <MergeDialog editor={editor} />
    </>
  );
};

const isNotSetUp = (error: unknown): boolean => error instanceof DoorstepError && error.code === 'delivery_not_set_up';

/** The plan of a website, for the agency: the day, the steps, the preview, and what the client sees of them. */
const DeliveryPage = (): ReactNode => {
  const { t } = useTranslation();
  const { websiteId = '' } = useParams();
  const mayWrite = useMayWrite();
  const website = useQuery(websiteQuery(websiteId));
  const delivery = useQuery(savedDeliveryQuery(websiteId));
  return (
    <Loaded query={website} skeleton={<PlanBones />}>
      {(known) => (
        <>
          <PageTitle title="titles.delivery" of={known.name} />
          {delivery.data === undefined && <PageHead title={known.name} sub={t('titles.delivery')} />}
          {isNotSetUp(delivery.error) && delivery.data === undefined ? (
            <NotSetUp websiteId={websiteId} mayWrite={mayWrite && known.archivedAt === undefined} />
          ) : (
            <Loaded query={delivery} skeleton={<PlanBones />}>
              {({ data }) => <DeliveryEditor key={websiteId} website={known} saved={data} />}
            </Loaded>
          )}
        </>
      )}
    </Loaded>
  );
};

export default DeliveryPage;
