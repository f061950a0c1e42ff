import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { matchPath, useLocation, useNavigate } from 'react-router';
import { paths, pathTo } from '../../paths.js';
import { useMe } from '../me/queries.js';
import { websiteQuery } from '../website/queries.js';
import { pageEntries } from './actions.js';
import classes from './Palette.module.css';
import { searchQuery } from './queries.js';
import { noteRecent, recentEntries, websiteEntry, type Entry } from './recent.js';

/** As the service compares: without regard to case and diacritics. */
const folded = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

/** Each of the words stands in it somewhere: “bakery peo” finds the people of the bakery. */
const fits = ({ name, also = '' }: Entry, q: string): boolean =>
  folded(q)
    .split(/\s+/)
    .every((word) => folded(`${name} ${also}`).includes(word));

const unique = (entries: readonly Entry[]): readonly Entry[] => [...new Map(entries.map((entry) => [entry.to, entry])).values()];

/** What fits the letters: websites and people as the service finds them, and the pages. Without letters, what was opened lately. */
const useEntries = (letters: string): { entries: readonly Entry[]; isSearching: boolean } => {
  const { t } = useTranslation();
  const { subject, role, websites } = useMe();
  const { pathname } = useLocation();
  const websiteId = matchPath({ path: paths.status, end: false }, pathname)?.params.websiteId;
  const isOnWebsite = websiteId !== undefined && pathname !== paths.newWebsite;
  const { data: website } = useQuery({ ...websiteQuery(websiteId ?? ''), enabled: isOnWebsite });
  const q = useDeferredValue(letters.trim());
  const { data, isFetching } = useQuery(searchQuery(q));
  const pages = pageEntries(role, website, t);
  if (q === '')
    return {
      entries: unique([...recentEntries(subject), ...websites.slice(0, 5).map(websiteEntry), ...pages]),
      isSearching: false,
    };
  const found = [
    ...(data?.websites ?? []).map(websiteEntry),
    ...(data?.clients ?? []).map(({ id, name, email }): Entry => ({
      to: pathTo('client', { clientId: id }),
      name: name === undefined ? email : `${name} · ${email}`,
      kind: 'person',
    })),
  ];
  const fitting = pages.filter((page) => fits(page, q));
  return { entries: unique([...found, ...fitting]), isSearching: isFetching };
};

/** Leads to any website, person or page by a few letters, with the keyboard alone. */
export const Palette = ({ onClose }: { readonly onClose: () => void }): ReactNode => {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { subject } = useMe();
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [letters, setLetters] = useState('');
  const [chosen, setChosen] = useState(0);
  const { entries, isSearching } = useEntries(letters);
  const active = Math.min(chosen, entries.length - 1);
  const optionId = (index: number): string => `${id}${String(index)}`;

  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    document.getElementById(`${id}${String(active)}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, active]);

  const open = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    noteRecent(subject, entry);
    dialog.current?.close();
    void navigate(entry.to);
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined && entries.length > 0) setChosen((active + step + entries.length) % entries.length);
    else if (event.key === 'Enter') open(entries[active]);
    else return;
    event.preventDefault();
  };

  return (
    <dialog
      ref={dialog}
      className={classes['palette']}
      aria-label={t('palette.title')}
      onClose={onClose}
      onClick={({ target, currentTarget }) => {
        // The backdrop.
        if (target === currentTarget) currentTarget.close();
      }}
    >
      <div className={classes['content']}>
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}list`}
          aria-autocomplete="list"
          aria-label={t('palette.title')}
          {...(entries.length > 0 && { 'aria-activedescendant': optionId(active) })}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          placeholder={t('palette.placeholder')}
          value={letters}
          onChange={({ currentTarget }) => {
            setLetters(currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={onKeyDown}
        />
        <ul id={`${id}list`} role="listbox" aria-label={t('palette.title')}>
          {entries.map((entry, index) => (
            <li
              key={entry.to}
              id={optionId(index)}
              role="option"
              aria-selected={index === active}
              onPointerMove={() => setChosen(index)}
              onClick={() => open(entry)}
            >
              <span>{entry.name}</span>
              <span className="muted small">{t(`palette.${entry.kind}`)}</span>
            </li>
          ))}
        </ul>
        <p role="status" className={classes['none']}>
          {entries.length === 0 && t(isSearching ? 'common.waiting' : 'palette.none', { letters })}
        </p>
      </div>
    </dialog>
  );
};
