import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { faultOf, refusalIn } from './states.js';

/**
 * Why a change was not made, in one line beside the button that was pressed; announced. A refusal names
 * the rule as the service says it. Renders nothing without an error.
 */
export const FaultLine = ({ error }: { readonly error: unknown }): ReactNode => {
  const { t } = useTranslation();
  const fault = faultOf(error);
  return (
    <div role="alert">
      {error !== null && error !== undefined && (
        <p>
          <b>{fault === 'refused' ? t('ui.refused') : `${t(`faults.${fault}.title`)}.`}</b>{' '}
          {refusalIn(error) ?? t(`faults.${fault}.text`)}
        </p>
      )}
    </div>
  );
};
