import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Switch } from '../../../theme/Switch.js';
import { TextInput } from '../../../theme/TextInput.js';
import classes from '../delivery.module.css';
import type { Editor } from '../useEditor.js';

/** What the agency sees of the preview, whether or not clients do. */
const Address = ({ editor: { block, shown } }: { readonly editor: Editor }): ReactNode => {
  const { t } = useTranslation();
  if (shown.previewUrlOverride !== block.previewUrlOverride) return t('delivery.previewAfterSaving');
  if (block.previewUrlUnavailable === true) return t('delivery.previewUnavailable');
  if (block.previewUrl === undefined) return t('delivery.noPreview');
  return (
    <a href={block.previewUrl} target="_blank" rel="noreferrer">
      {block.previewUrl.replace(/^https?:\/\//, '')}
    </a>
  );
};

interface PreviewFieldsProps {
  readonly editor: Editor;
  readonly issues: Readonly<Partial<Record<string, string>>>;
}

/** Whether clients see the preview, and which one that is. */
export const PreviewFields = ({ editor, issues }: PreviewFieldsProps): ReactNode => {
  const { t } = useTranslation();
  return (
    <section className={classes['field']} aria-labelledby="delivery-preview">
      <h2 id="delivery-preview">{t('delivery.preview')}</h2>
      <p className={`small muted ${classes['address'] ?? ''}`}>
        <Address editor={editor} />
      </p>
      <Switch
        label={t('delivery.clientsSeePreview')}
        checked={editor.shown.showPreviewUrl}
        onChange={({ currentTarget: { checked } }) => void editor.run({ type: 'showPreview', showPreviewUrl: checked })}
      />
      <TextInput
        type="url"
        label={t('delivery.override')}
        description={t('delivery.overrideHint')}
        placeholder="https://"
        maxLength={2048}
        value={editor.shown.previewUrlOverride ?? ''}
        error={issues['previewUrlOverride']}
        onChange={({ currentTarget: { value } }) => editor.edit('previewUrlOverride', value)}
      />
    </section>
  );
};
