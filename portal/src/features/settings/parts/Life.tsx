import type { Website } from '@doorstep/sdk';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { ConfirmByTyping } from '../../../ui/ConfirmByTyping.js';
import { ConfirmDialog } from '../../../ui/ConfirmDialog.js';
import { dayText } from '../../../ui/dates.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import { useNotice } from '../../../ui/notices.js';
import { useArchive, useDelete, useRestore } from '../mutations.js';
import classes from '../SettingsPage.module.css';

const keepable = ['repository', 'hosting'] as const;

interface KeepFieldsProps {
  readonly kept: readonly string[];
  readonly onChange: (kept: readonly string[]) => void;
}

/** What stays at the providers when the website goes. */
const KeepFields = ({ kept, onChange }: KeepFieldsProps): ReactNode => {
  const { t } = useTranslation();
  return keepable.map((thing) => (
    <label key={thing} className={classes['check']}>
      <input
        type="checkbox"
        checked={kept.includes(thing)}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? [...kept, thing] : kept.filter((one) => one !== thing))}
      />
      {t(`settings.life.keep.${thing}`)}
    </label>
  ));
};

/** Archives a website, and what an archived one can become. */
export const Life = ({ website }: { readonly website: Website }): ReactNode => {
  const { t } = useTranslation();
  const notify = useNotice();
  const { id, name, slug, archivedAt, purgeAt, keep = [] } = website;
  const archive = useArchive(id);
  const restore = useRestore(id);
  const deletion = useDelete(id);
  const [asked, setAsked] = useState<'archive' | 'delete' | 'keep'>();
  const [kept, setKept] = useState<readonly string[]>([]);
  const ask = (question: 'delete' | 'keep'): void => {
    deletion.reset();
    setKept(keep);
    setAsked(question);
  };
  const close = (): void => setAsked(undefined);
  const stays = keep.length > 1 ? 'both' : (keep[0] ?? 'none');
  const sayRestored = (): void => notify({ words: t('websites.restored', { name }) });

  if (archivedAt === undefined) {
    return (
      <section className={`card ${classes['section'] ?? ''}`} aria-labelledby="settings-life">
        <div className={classes['danger']}>
          <div>
            <h2 id="settings-life">{t('settings.life.archiveTitle')}</h2>
            <p className="muted">{t('settings.life.archiveText')}</p>
          </div>
          <div className={classes['buttons']}>
            <Button onClick={() => setAsked('archive')}>{t('settings.life.archive')}</Button>
          </div>
        </div>
        <ConfirmByTyping
          word={slug}
          opened={asked === 'archive'}
          onClose={close}
          title={t('settings.life.archiveQuestion', { name })}
          action={t('websites.archive')}
          pending={archive.isPending}
          error={archive.error}
          onConfirm={() =>
            archive.mutate(undefined, {
              onSuccess: () => {
                close();
                notify({ words: t('websites.archived', { name }), undo: () => restore.mutateAsync(undefined).then(sayRestored) });
              },
            })
          }
        >
          <p>{t('settings.life.archiveText')}</p>
        </ConfirmByTyping>
      </section>
    );
  }
  return (
    <section className={`card ${classes['section'] ?? ''} ${classes['needed'] ?? ''}`} aria-labelledby="settings-life">
      <div className={classes['danger']}>
        <div>
          <h2 id="settings-life">
            {purgeAt === undefined
              ? t('settings.life.archivedTitle', { day: dayText(archivedAt, 'moment') })
              : t('settings.life.purgeTitle', { day: dayText(purgeAt, 'moment') })}
          </h2>
          <p>{purgeAt === undefined ? t('settings.life.archivedText') : t(`settings.life.purgeText.${stays}`)}</p>
          <FaultLine error={restore.error} />
        </div>
        <div className={classes['buttons']}>
          {purgeAt === undefined ? (
            <Button onClick={() => ask('delete')}>{t('settings.life.delete')}</Button>
          ) : (
            <Button onClick={() => ask('keep')}>{t('settings.life.changeKept')}</Button>
          )}
          <Button
            variant="filled"
            loading={restore.isPending}
            onClick={() => restore.mutate(undefined, { onSuccess: sayRestored })}
          >
            {t(purgeAt === undefined ? 'websites.restore' : 'settings.life.keepIt')}
          </Button>
        </div>
      </div>
      <ConfirmByTyping
        word={slug}
        opened={asked === 'delete'}
        onClose={close}
        title={t('settings.life.deleteQuestion', { name })}
        action={t('settings.life.delete')}
        pending={deletion.isPending}
        error={deletion.error}
        onConfirm={() => deletion.mutate({ confirm: slug, kept }, { onSuccess: close })}
      >
        <p>{t('settings.life.deleteText')}</p>
        <KeepFields kept={kept} onChange={setKept} />
      </ConfirmByTyping>
      <ConfirmDialog
        opened={asked === 'keep'}
        onClose={close}
        title={t('settings.life.changeKept')}
        action={t('common.save')}
        pending={deletion.isPending}
        error={deletion.error}
        onConfirm={() => deletion.mutate({ confirm: slug, kept }, { onSuccess: close })}
      >
        <p>{t('settings.life.changeKeptText', { name, day: purgeAt === undefined ? '' : dayText(purgeAt, 'moment') })}</p>
        <KeepFields kept={kept} onChange={setKept} />
      </ConfirmDialog>
    </section>
  );
};
