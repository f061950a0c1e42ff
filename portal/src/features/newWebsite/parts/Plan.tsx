import type { CreateWebsiteRequest, DryRun, PlannedEvent } from '@doorstep/sdk';
import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

const words = ({ type, data }: PlannedEvent, { name, clientId }: CreateWebsiteRequest, t: TFunction): readonly string[] => {
  switch (type) {
    case 'SlugReserved':
      return [t('newWebsite.plan.slug', { slug: String(data['slug']) })];
    case 'WebsiteCreated':
      return [
        t('newWebsite.plan.created', { name }),
        ...(clientId === undefined ? [] : [t('newWebsite.plan.owner')]),
        t('newWebsite.plan.built'),
      ];
    default:
      return [t('newWebsite.plan.other', { type })];
  }
};

interface PlanProps {
  readonly body: CreateWebsiteRequest;
  readonly plan: DryRun;
}

/** What creating the website would do, in words. */
export const Plan = ({ body, plan }: PlanProps): ReactNode => {
  const { t } = useTranslation();
  return (
    <ol>
      {plan.events
        .flatMap((event) => words(event, body, t))
        .map((line) => (
          <li key={line}>{line}</li>
        ))}
    </ol>
  );
};
