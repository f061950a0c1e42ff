import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import { base, signInWays } from '../../page.js';
import { pathTo } from '../../paths.js';
import { Button } from '../../theme/Button.js';
import { TextInput } from '../../theme/TextInput.js';
import { CopyField } from '../../ui/CopyField.js';
import forms from '../../ui/forms.module.css';
import { PageHead } from '../../ui/PageHead.js';

const address = location.origin + base;

/** Where the service's own provider approves devices; undefined: another provider does. */
const devicePage = signInWays?.authorizationEndpoint.startsWith(`${address}/`)
  ? new URL('device', signInWays.authorizationEndpoint).href
  : undefined;

const card = `card ${forms['card'] ?? ''} ${forms['form'] ?? ''}`;

/** How the command line and assistants are connected, and the way to approve a device. */
const ConnectPage = (): ReactNode => {
  const { t } = useTranslation();
  const [search] = useSearchParams();
  return (
    <>
      <PageHead title={t('connect.title')} lead={t('connect.lead')} />
      <section className={card} aria-labelledby="device">
        <h2 id="device">{t('connect.device')}</h2>
        {devicePage === undefined ? (
          <p>{t('connect.deviceElsewhere')}</p>
        ) : (
          // The provider shows the code once more, to be compared, and what the device may do.
          <form action={devicePage} method="get" className={forms['form']}>
            <p>{t('connect.deviceText')}</p>
            <div className={forms['fields']}>
              <TextInput
                name="user_code"
                label={t('connect.code')}
                defaultValue={search.get('code') ?? ''}
                required
                withAsterisk={false}
                maxLength={20}
                autoComplete="off"
                autoCapitalize="characters"
                spellCheck={false}
              />
              <div>
                <Button type="submit" variant="filled">
                  {t('connect.checkCode')}
                </Button>
              </div>
            </div>
          </form>
        )}
        <p className="muted">
          {t('connect.connected')} <Link to={pathTo('apiKeys')}>{t('connect.seeKeys')}</Link>
        </p>
      </section>
      <section className={card} aria-labelledby="cli">
        <h2 id="cli">{t('connect.cli')}</h2>
        <p>{t('connect.cliText')}</p>
        <CopyField label={t('connect.install')} value="npm install -g @doorstep/cli" />
        <CopyField label={t('connect.logIn')} value={`doorstep login --url ${address}`} />
        <CopyField label={t('connect.first')} value="doorstep websites list" />
      </section>
      <section className={card} aria-labelledby="assistant">
        <h2 id="assistant">{t('connect.assistant')}</h2>
        <p>{t('connect.assistantText')}</p>
        <CopyField label={t('connect.mcpAddress')} value={`${address}/mcp`} />
        <CopyField
          label={t('connect.claude')}
          value={`claude mcp add --transport http doorstep ${address}/mcp --header "Authorization: Bearer svc_pat_…"`}
        />
        <CopyField label={t('connect.local')} value="claude mcp add doorstep -- doorstep mcp" />
        <p className="muted">
          {t('connect.toKeysText')} <Link to={pathTo('apiKeys')}>{t('connect.toKeys')}</Link>
        </p>
      </section>
    </>
  );
};

export default ConnectPage;
