import type { AuditEntry } from '@doorstep/sdk';
import type { TFunction } from 'i18next';
import type en from '../../../i18n/en.json';

type Worded = keyof typeof en.audit.events;
type Step = keyof typeof en.provisioning.steps;
type Kind = keyof typeof en.settings.services.kinds;

const textIn = (data: AuditEntry['data'], ...names: readonly string[]): string | undefined =>
  names.map((name) => data[name]).find((value): value is string => typeof value === 'string' && value !== '');

/** Of a service. */
const kindNamed = (kind: string | undefined, t: TFunction): string | undefined =>
  kind && t(`settings.services.kinds.${kind as Kind}` as const, { defaultValue: kind });

const statuses = ['pending', 'in_progress', 'done'] as const;

/**
 * What happened, as a sentence.
 * @param names of clients, by their ids
 */
export const sentenceOf = ({ type, data }: AuditEntry, names: Readonly<Record<string, string>>, t: TFunction): string => {
  const clientId = textIn(data, 'clientId', 'claimedBy');
  const status = statuses.find((each) => each === data['status']);
  const key = `audit.events.${type as Worded}` as const;
  const step = textIn(data, 'step');
  return t(key, {
    person: (clientId === undefined ? undefined : names[clientId]) ?? textIn(data, 'email') ?? t('audit.somebody'),
    name:
      step === undefined
        ? (textIn(data, 'name', 'title', 'slug', 'domain', 'checkpointId', 'documentId') ??
          kindNamed(textIn(data, 'kind'), t) ??
          t('audit.nameless'))
        : t(`provisioning.steps.${step as Step}` as const, { defaultValue: step }),
    email: textIn(data, 'email') ?? t('audit.somebody'),
    status: status === undefined ? '' : t(`steps.${status}`),
    // A newer service may record what this portal does not know.
    defaultValue: t('audit.unknown', { type }),
  });
};
