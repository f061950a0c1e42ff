import type { Website } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { brandName } from '../../../page.js';
import { pathTo } from '../../../paths.js';
import { buttonLook } from '../../../ui/buttonLook.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import { useIsAdmin } from '../../../ui/useMayWrite.js';
import { useSetUp } from '../mutations.js';
import classes from '../status.module.css';
import { Standing } from './Standing.js';

/** Nothing is planned yet. */
export const NoPlan = ({ website }: { readonly website: Website }): ReactNode => {
  const { t } = useTranslation();
  const { id, name, archivedAt } = website;
  const isAdmin = useIsAdmin();
  const setUp = useSetUp(id);
  const navigate = useNavigate();
  const start = (): void => setUp.mutate(undefined, { onSuccess: () => void navigate(pathTo('delivery', { websiteId: id })) });
  return (
    <>
      <Standing website={website} />
      <div className={classes['answer']}>
        <p className="muted">{name}</p>
        <h1>{t(isAdmin ? 'status.noPlan' : 'status.planFollows')}</h1>
        <p className={classes['sub']}>{t(isAdmin ? 'status.noPlanText' : 'status.planFollowsText', { brand: brandName })}</p>
      </div>
      {isAdmin && archivedAt === undefined && (
        <div>
          <button type="button" className={buttonLook('primary')} disabled={setUp.isPending} onClick={start}>
            {t('status.setUp')}
          </button>
          <FaultLine error={setUp.error} />
        </div>
      )}
    </>
  );
};
