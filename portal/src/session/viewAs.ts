/** "Viewing as": an admin looks at what somebody else gets, in this tab, until they end it. */
const key = 'doorstep.viewAs';

const asked = new URL(location.href).searchParams.get('as');
if (asked !== null) sessionStorage.setItem(key, asked);

/** The address of the person whose answers are shown; null: one's own. */
export const viewedAs = sessionStorage.getItem(key);

/** Shows one's own answers again. */
export const stopViewing = (): void => {
  sessionStorage.removeItem(key);
  const here = new URL(location.href);
  here.searchParams.delete('as');
  location.replace(here);
};
