import type { DeliveryBlock } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { dayText } from '../../../ui/dates.js';
import { forecastQuery } from '../queries.js';

/** What is usual for this agency, of the step that is next. */
export const ForecastLine = ({ block: { websiteId, checkpoints } }: { readonly block: DeliveryBlock }): ReactNode => {
  const { t } = useTranslation();
  const { data: forecast } = useQuery(forecastQuery(websiteId));
  if (forecast === undefined) return null;
  const { finished, etaHeldInPast } = forecast;
  const next = forecast.checkpoints.find(({ medianAt }) => medianAt !== null);
  const usualAt = next?.medianAt ?? null;
  const label = checkpoints.find(({ id }) => id === next?.id)?.label;
  const sentences = [
    usualAt !== null && label !== undefined && t('delivery.usual', { label, day: dayText(usualAt, 'moment') }),
    etaHeldInPast === null
      ? t('delivery.tooFew', { count: finished })
      : t('delivery.held', { held: Math.round(etaHeldInPast * finished), count: finished }),
  ];
  return <p className="small muted">{sentences.filter((sentence) => sentence !== false).join(' ')}</p>;
};
