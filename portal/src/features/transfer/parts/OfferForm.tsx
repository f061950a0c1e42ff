import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { Checkbox } from '../../../theme/Checkbox.js';
import { Radio } from '../../../theme/Radio.js';
import { TextInput } from '../../../theme/TextInput.js';
import { fieldErrors } from '../../../ui/fieldErrors.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import forms from '../../../ui/forms.module.css';
import { useLeaveGuard } from '../../../ui/leaving.js';
import { useNotice } from '../../../ui/notices.js';
import { useIsAdmin } from '../../../ui/useMayWrite.js';
import { useOffer } from '../mutations.js';

interface OfferFormProps {
  readonly websiteId: string;
  /** Of an offer that is open: it is renewed on the terms asked for now. */
  readonly email?: string;
}

/** Offers the ownership to somebody. */
export const OfferForm = ({ websiteId, email: offered = '' }: OfferFormProps): ReactNode => {
  const { t } = useTranslation();
  const mayChange = useIsAdmin();
  const notify = useNotice();
  const offer = useOffer(websiteId);
  const [email, setEmail] = useState(offered);
  const [pays, setPays] = useState('new');
  const [id, setId] = useState('');
  const [sendEmail, setSendEmail] = useState(false);
  const errors = fieldErrors(offer.error);
  const isOffered = [offered, offer.data?.email].includes(email.trim().toLowerCase());
  useLeaveGuard(!isOffered || id.trim() !== '');
  if (!mayChange) return null;
  const terms = id.trim() === '' ? {} : pays === 'new' ? { priceId: id.trim() } : { subscription: id.trim() };
  return (
    <form
      className={`card ${forms['card'] ?? ''} ${forms['form'] ?? ''}`}
      aria-label={t('transfer.offer')}
      onSubmit={(event) => {
        event.preventDefault();
        offer.mutate(
          { email: email.trim(), sendEmail, ...terms },
          {
            onSuccess: (made) => {
              setId('');
              notify({ words: t('transfer.offered', { email: made.email }) });
            },
          },
        );
      }}
    >
      <h2>{t('transfer.offer')}</h2>
      <TextInput
        type="email"
        label={t('transfer.newOwner')}
        required
        withAsterisk={false}
        maxLength={254}
        autoComplete="off"
        value={email}
        error={errors['email']}
        onChange={({ currentTarget: { value } }) => setEmail(value)}
      />
      <Radio.Group
        label={t('transfer.billing')}
        value={pays}
        onChange={(value) => {
          setPays(value);
          setId('');
        }}
      >
        <div className={forms['choice']}>
          <Radio value="new" label={t('transfer.newSubscription')} />
          <Radio value="existing" label={t('transfer.existingSubscription')} />
        </div>
      </Radio.Group>
      <TextInput
        label={t(pays === 'new' ? 'transfer.price' : 'transfer.subscription')}
        description={t(pays === 'new' ? 'transfer.priceHint' : 'transfer.subscriptionHint')}
        required={pays === 'existing'}
        withAsterisk={false}
        autoComplete="off"
        spellCheck={false}
        value={id}
        error={errors['priceId'] ?? errors['subscription']}
        onChange={({ currentTarget: { value } }) => setId(value)}
      />
      <Checkbox
        label={t('transfer.sendEmail')}
        description={t('transfer.sendEmailHint')}
        checked={sendEmail}
        onChange={({ currentTarget: { checked } }) => setSendEmail(checked)}
      />
      <FaultLine error={Object.keys(errors).length > 0 ? null : offer.error} />
      <div className={forms['actions']}>
        <Button type="submit" variant="filled" loading={offer.isPending}>
          {t('transfer.offerAction')}
        </Button>
      </div>
    </form>
  );
};
