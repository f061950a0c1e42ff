import { DoorstepError, type DeliveryBlock } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { base } from '../../../page.js';
import { pathTo } from '../../../paths.js';
import { Button } from '../../../theme/Button.js';
import { CopyField } from '../../../ui/CopyField.js';
import { dayText, momentText } from '../../../ui/dates.js';
import { countsOf, Mark, ProgressBar } from '../../../ui/marks.js';
import { Loaded } from '../../../ui/states.js';
import classes from '../history.module.css';
import { deliveryAtQuery } from '../queries.js';

/** The plan of then. Nothing in it is measured from today. */
const Then = ({
  block: { estimatedCompletionAt, showPreviewUrl, checkpoints },
}: {
  readonly block: DeliveryBlock;
}): ReactNode => {
  const { t } = useTranslation();
  return (
    <>
      <h3>{t('history.readyBy', { day: dayText(estimatedCompletionAt, 'day') })}</h3>
      <ProgressBar counts={countsOf(checkpoints)} />
      <ul className={classes['then']}>
        {checkpoints.map(({ id, label, status, dueAt, neededFromClient }) => (
          <li key={id}>
            <Mark status={status} />
            <span>
              {label}
              {neededFromClient !== undefined && (
                <span className="small muted"> {t('delivery.neededShort', { what: neededFromClient })}</span>
              )}
            </span>
            <span className="small muted">
              {status === 'done' || dueAt === undefined
                ? t(`steps.${status}`)
                : t('delivery.due', { day: dayText(dueAt, 'day') })}
            </span>
          </li>
        ))}
      </ul>
      <p className="small muted">{t(showPreviewUrl ? 'history.previewShown' : 'history.previewHidden')}</p>
    </>
  );
};

interface AsItWasProps {
  readonly websiteId: string;
  readonly at: string;
  readonly onClose: () => void;
}

/** The block as it was at a moment, with a link that leads here again. */
export const AsItWas = ({ websiteId, at, onClose }: AsItWasProps): ReactNode => {
  const { t } = useTranslation();
  const heading = useRef<HTMLHeadingElement>(null);
  const then = useQuery(deliveryAtQuery(websiteId, at));
  useEffect(() => heading.current?.focus(), [at]);
  const wasNone = then.error instanceof DoorstepError && then.error.code === 'delivery_not_set_up';
  const isMoment = !Number.isNaN(Date.parse(at));
  return (
    <section className={`card ${classes['panel'] ?? ''}`} aria-labelledby="history-then">
      <h2 id="history-then" ref={heading} tabIndex={-1}>
        {isMoment ? t('history.asItWasAt', { when: momentText(at) }) : t('history.noMoment')}
      </h2>
      {wasNone ? <p>{t('history.wasNone')}</p> : <Loaded query={then}>{(block) => <Then block={block} />}</Loaded>}
      {then.data !== undefined && (
        <CopyField
          label={t('history.link')}
          value={`${location.origin}${base}/app${pathTo('history', { websiteId })}?at=${encodeURIComponent(at)}`}
        />
      )}
      <div>
        <Button onClick={onClose}>{t('common.close')}</Button>
      </div>
    </section>
  );
};
