import type { Deployment } from '@doorstep/sdk';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useAnnounce } from '../../ui/Announcer.js';

/** Says how a build has ended to those who do not see it. */
export const useBuildEnd = (latest: Deployment | undefined): void => {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const before = useRef<Deployment['status']>(undefined);
  const status = latest?.status;
  useEffect(() => {
    if (before.current === 'building' && status === 'ready') announce(t('deployments.ended'));
    if (before.current === 'building' && status === 'failed') announce(t('deployments.endedFailed'));
    before.current = status;
  }, [status, announce, t]);
};
