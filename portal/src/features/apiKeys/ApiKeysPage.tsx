import type { APIKey } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import { base } from '../../page.js';
import { pathTo } from '../../paths.js';
import { Button } from '../../theme/Button.js';
import { CopyField } from '../../ui/CopyField.js';
import forms from '../../ui/forms.module.css';
import lists from '../../ui/lists.module.css';
import { PageHead } from '../../ui/PageHead.js';
import { HeadingBone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { Loaded, StateCard } from '../../ui/states.js';
import { useIsAdmin, useMayWrite } from '../../ui/useMayWrite.js';
import { useMe } from '../me/queries.js';
import { apiKeysQuery } from './queries.js';
import { KeyRow } from './parts/KeyRow.js';
import { MintDialog } from './parts/MintDialog.js';
import { RevokeDialog } from './parts/RevokeDialog.js';
import { SubjectForm } from './parts/SubjectForm.js';

/** Keys by which programs call the API in somebody's name. */
const ApiKeysPage = (): ReactNode => {
  const { t } = useTranslation();
  const { subject: mine } = useMe();
  const isAdmin = useIsAdmin();
  const mayWrite = useMayWrite();
  const [search] = useSearchParams();
  const asked = search.get('subject') ?? undefined;
  const subject = isAdmin && asked !== mine ? asked : undefined;
  const query = useQuery(apiKeysQuery(subject));
  const [isMinting, setMinting] = useState(false);
  const [revoked, setRevoked] = useState<APIKey | null>(null);
  const mayMint = mayWrite && subject === undefined;

  return (
    <>
      <Loaded
        query={query}
        skeleton={
          <Skeleton>
            <HeadingBone />
            <RowBones />
          </Skeleton>
        }
      >
        {(keys) => (
          <>
            <PageHead
              title={
                subject === undefined
                  ? t(keys.length === 0 ? 'apiKeys.titleNone' : 'apiKeys.title', { count: keys.length })
                  : t('apiKeys.titleOf', { count: keys.length, subject })
              }
              lead={t('apiKeys.lead')}
              actions={
                mayMint ? (
                  <Button variant="filled" onClick={() => setMinting(true)}>
                    {t('apiKeys.mint')}
                  </Button>
                ) : undefined
              }
            />
            {keys.length > 0 && (
              <ul className={`card ${lists['rows'] ?? ''}`}>
                {keys.map((key) => (
                  <KeyRow key={key.id} apiKey={key} all={keys} {...(mayWrite && { onRevoke: () => setRevoked(key) })} />
                ))}
              </ul>
            )}
            {keys.length === 0 && subject === undefined && (
              <StateCard title={t('apiKeys.exampleTitle')}>
                <div className={forms['form']}>
                  <p>{t('apiKeys.exampleText')}</p>
                  <CopyField label={t('apiKeys.exampleLabel')} value={exampleCall('svc_pat_…')} />
                  <p>
                    <Link to={pathTo('connect')}>{t('apiKeys.toConnect')}</Link>
                  </p>
                </div>
              </StateCard>
            )}
            {keys.length === 0 && subject !== undefined && (
              <StateCard title={t('apiKeys.noneOfTitle')}>{t('apiKeys.noneOfText', { subject })}</StateCard>
            )}
            {revoked !== null && <RevokeDialog apiKey={revoked} all={keys} onClose={() => setRevoked(null)} />}
          </>
        )}
      </Loaded>
      {isMinting && <MintDialog onClose={() => setMinting(false)} example={exampleCall} />}
      {isAdmin && <SubjectForm key={subject} subject={subject} />}
    </>
  );
};

/** A request that needs nothing but the key. */
const exampleCall = (token: string): string => `curl -H "Authorization: Bearer ${token}" ${location.origin}${base}/v1/me`;

export default ApiKeysPage;
