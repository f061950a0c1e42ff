import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { NativeSelect } from '../../../theme/NativeSelect.js';
import { TextInput } from '../../../theme/TextInput.js';
import { DayField } from '../../../ui/DayField.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import { fieldErrors } from '../../../ui/fieldErrors.js';
import { FormDialog } from '../../../ui/FormDialog.js';
import { useNotice } from '../../../ui/notices.js';
import { amountIn } from '../money.js';
import { useAddInvoice } from '../mutations.js';
import classes from './AddInvoice.module.css';

const currencies = ['eur', 'usd', 'gbp', 'chf', 'sek', 'dkk', 'nok', 'pln', 'czk', 'jpy'];

interface AddInvoiceProps {
  readonly websiteId: string;
  /** Of the invoice before. */
  readonly currency: string | undefined;
  readonly onClose: () => void;
}

/** Asks what an invoice to the owner is about, and writes it. */
export const AddInvoice = ({ websiteId, currency: usual = 'eur', onClose }: AddInvoiceProps): ReactNode => {
  const { t } = useTranslation();
  const notify = useNotice();
  const add = useAddInvoice(websiteId);
  const [description, setDescription] = useState('');
  const [amount, setAmount] = useState('');
  const [currency, setCurrency] = useState(usual);
  const [dueAt, setDueAt] = useState('');
  const [isDueUnfinished, setDueUnfinished] = useState(false);
  const [hasTried, setTried] = useState(false);
  const total = amountIn(amount, currency);
  const errors = fieldErrors(add.error);
  const isTyped = description.trim() !== '' || amount.trim() !== '' || dueAt !== '' || isDueUnfinished;
  const isNamed = Object.keys(errors).length > 0;
  const submit = (): void => {
    setTried(true);
    if (total === null || description.trim() === '' || isDueUnfinished) return;
    add.mutate(
      { total, currency, description: description.trim(), ...(dueAt !== '' && { dueAt }) },
      {
        onSuccess: () => {
          notify({ words: t('billing.added') });
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog dirty={isTyped} onClose={onClose} title={t('billing.add')}>
      <form
        className={classes['form']}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <TextInput
          data-autofocus
          required
          label={t('billing.what')}
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
          error={errors['description'] ?? (hasTried && description.trim() === '' && t('billing.whatMissing'))}
        />
        <div className={classes['amount']}>
          <TextInput
            required
            inputMode="decimal"
            label={t('billing.amount')}
            value={amount}
            onChange={(event) => setAmount(event.currentTarget.value)}
            error={errors['total'] ?? (hasTried && total === null && t('billing.amountWrong'))}
          />
          <NativeSelect
            label={t('billing.currency')}
            value={currency}
            onChange={(event) => setCurrency(event.currentTarget.value)}
            data={[...new Set([usual, ...currencies])].map((code) => ({ value: code, label: code.toUpperCase() }))}
          />
        </div>
        <DayField
          label={t('billing.dueBy')}
          value={dueAt}
          onChange={setDueAt}
          onUnfinished={setDueUnfinished}
          error={errors['dueAt'] ?? (hasTried && isDueUnfinished && t('billing.dueWrong'))}
        />
        <p className="small muted">{t('billing.addText')}</p>
        {!isNamed && <FaultLine error={add.error} />}
        <div className={classes['actions']}>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" variant="filled" loading={add.isPending}>
            {t('billing.add')}
          </Button>
        </div>
      </form>
    </FormDialog>
  );
};
