import type { ContentDocument } from '@doorstep/sdk';
import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { Radio } from '../../../theme/Radio.js';
import { momentText } from '../../../ui/dates.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import { actorName } from '../actors.js';
import { differencesOf, mergedBody, nameOf, type Choice, type Difference } from '../merge.js';
import { titleAt, type Field } from '../schema.js';
import classes from './Merge.module.css';
import { Reading } from './Reading.js';

interface MergeProps {
  readonly field: Field | null;
  /** What both began from. */
  readonly base: unknown;
  readonly mine: unknown;
  readonly theirs: ContentDocument;
  readonly saving: boolean;
  readonly error: unknown;
  readonly onSave: (body: unknown) => void;
  /** Goes on with theirs alone. */
  readonly onDropMine: () => void;
}

/** One place that both changed: which of the two stays. */
const Conflict = ({
  difference,
  title,
  who,
  choice,
  onChoose,
}: {
  readonly difference: Difference;
  readonly title: string;
  readonly who: string;
  readonly choice: Choice | undefined;
  readonly onChoose: (choice: Choice) => void;
}): ReactNode => {
  const { t } = useTranslation();
  return (
    <Radio.Group
      className={classes['conflict'] ?? ''}
      label={title}
      value={choice ?? null}
      onChange={(value) => onChoose(value === 'mine' ? 'mine' : 'theirs')}
    >
      <div className={classes['base']}>
        <span className="small muted">{t('content.merge.base')}</span>
        <Reading value={difference.base} />
      </div>
      <div className={classes['sides']}>
        <div className={classes['side']}>
          <Radio value="mine" label={t('content.merge.mine')} />
          <Reading value={difference.mine} />
        </div>
        <div className={classes['side']}>
          <Radio value="theirs" label={t('content.merge.theirs', { who })} />
          <Reading value={difference.theirs} />
        </div>
      </div>
    </Radio.Group>
  );
};

/** What only one of the two changed: it stays without a question. */
const Kept = ({
  title,
  differences,
  field,
}: {
  readonly title: string;
  readonly differences: readonly Difference[];
  readonly field: Field | null;
}): ReactNode =>
  differences.length > 0 && (
    <div>
      <h3>{title}</h3>
      <ul>
        {differences.map((difference) => (
          <li key={nameOf(difference)}>{titleAt(field, difference.path)}</li>
        ))}
      </ul>
    </div>
  );

/** Two people changed one document: three ways, field by field. */
export const Merge = ({ field, base, mine, theirs, saving, error, onSave, onDropMine }: MergeProps): ReactNode => {
  const { t } = useTranslation();
  const id = useId();
  const [choices, setChoices] = useState<Readonly<Partial<Record<string, Choice>>>>({});
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const differences = differencesOf(base, mine, theirs.body);
  const conflicts = differences.filter(({ by }) => by === 'both');
  const open = conflicts.filter((conflict) => choices[nameOf(conflict)] === undefined).length;
  const who = actorName(theirs.updatedBy, t);
  return (
    <section className={`card ${classes['merge'] ?? ''}`} aria-labelledby={id}>
      <h2 id={id} ref={heading} tabIndex={-1}>
        {t('content.merge.title', { who })}
      </h2>
      <p>
        {theirs.updatedAt !== undefined && `${t('content.merge.when', { time: momentText(theirs.updatedAt) })} `}
        {conflicts.length === 0 ? t('content.merge.apart') : t('content.merge.choose', { count: conflicts.length })}
      </p>
      {conflicts.map((conflict) => (
        <Conflict
          key={nameOf(conflict)}
          difference={conflict}
          title={titleAt(field, conflict.path)}
          who={who}
          choice={choices[nameOf(conflict)]}
          onChoose={(choice) => setChoices({ ...choices, [nameOf(conflict)]: choice })}
        />
      ))}
      <Kept title={t('content.merge.keptMine')} differences={differences.filter(({ by }) => by === 'me')} field={field} />
      <Kept
        title={t('content.merge.keptTheirs', { who })}
        differences={differences.filter(({ by }) => by === 'them')}
        field={field}
      />
      <FaultLine error={error} />
      <div className={classes['actions']}>
        <Button onClick={onDropMine} disabled={saving}>
          {t('content.merge.dropMine')}
        </Button>
        <Button
          variant="filled"
          loading={saving}
          disabled={open > 0}
          onClick={() => onSave(mergedBody(theirs.body, differences, choices))}
        >
          {open > 0 ? t('content.merge.open', { count: open }) : t('content.merge.save')}
        </Button>
      </div>
    </section>
  );
};
