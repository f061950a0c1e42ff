import type { AccountRole } from '@doorstep/sdk';
import type { ParseKeys } from 'i18next';
import type { PageName } from '../../paths.js';

export interface FrameLink {
  readonly page: PageName;
  readonly words: ParseKeys;
}

const link = (page: PageName): FrameLink => ({ page, words: `titles.${page}` });

/** What leads through the agency. */
export const agencyLinks = (role: AccountRole): readonly FrameLink[] => (role === 'admin' ? [link('home')] : [link('home')]);

/** What leads through a website. */
export const websiteLinks = (role: AccountRole): readonly FrameLink[] =>
  role === 'admin' ? [link('home'), link('status')] : [link('status')];
