import { useLayoutEffect, type RefObject } from 'react';
import { useLocation } from 'react-router';

const focusable = 'a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary';

const dialog = '[role="dialog"], dialog';

/** Where a control stands: what it is in, from the inside out, and its place there. */
type Trail = readonly { readonly within: Element; readonly place: number }[];

/** A control that has had the focus. */
interface Held {
  readonly control: HTMLElement;
  readonly trail: Trail;
}

const trailOf = (control: Element, root: Element): Trail => {
  const trail: { within: Element; place: number }[] = [];
  for (let child = control; child !== root && child.parentElement !== null; child = child.parentElement) {
    trail.push({ within: child.parentElement, place: [...child.parentElement.children].indexOf(child) });
  }
  return trail;
};

/** What stands nearest to where a control stood: behind it, or else before it. */
const neighbourAt = (trail: Trail): HTMLElement | undefined => {
  for (const { within, place } of trail) {
    if (!within.isConnected) continue;
    const controls = [...within.querySelectorAll<HTMLElement>(focusable)];
    const after = [...within.children].slice(place);
    const next = controls.find((control) => after.some((child) => child.contains(control))) ?? controls.at(-1);
    if (next !== undefined) return next;
  }
  return undefined;
};

const headingIn = (page: Element | null): HTMLElement | undefined => {
  const heading = page?.querySelector('h1') ?? undefined;
  if (heading !== undefined) heading.tabIndex = -1;
  return heading;
};

/**
 * Keeps the place of those who work by keys, where a browser would send them back to the top of the
 * window: a control that was disabled while something was sent gets the focus back, and when it went
 * away, its neighbour takes it. Whoever has clicked elsewhere is left there.
 */
export const useKeptFocus = (main: RefObject<HTMLElement | null>): void => {
  const { pathname } = useLocation();
  // At another page the focus goes to its heading; what was here is forgotten before it is shown.
  useLayoutEffect(() => {
    /** What had the focus last, perhaps in a dialog or a notice. */
    let latest: Held | null = null;
    /** What had it last on the page. */
    let onPage: Held | null = null;
    let wasDisabled = false;

    const onFocusIn = ({ target }: FocusEvent): void => {
      if (!(target instanceof HTMLElement)) return;
      const { current: page } = main;
      const opened = target.closest(dialog);
      latest = { control: target, trail: opened === null ? [] : trailOf(target, opened) };
      wasDisabled = false;
      if (page === null || target === page || !page.contains(target) || opened !== null) return;
      onPage = { control: target, trail: trailOf(target, page) };
    };
    const onPointerDown = ({ target }: PointerEvent): void => {
      if (target instanceof Element && target.closest(focusable) !== null) return;
      latest = null;
      onPage = null;
    };
    const giveBack = ({ control }: Held): void => {
      if (control.matches(':disabled')) wasDisabled = true;
      else control.focus({ preventScroll: true });
    };
    const look = (): void => {
      if (latest === null) return;
      const { control, trail } = latest;
      if (control.matches(':disabled')) wasDisabled = true;
      if (document.activeElement !== null && document.activeElement !== document.body) return;
      if (control.isConnected) {
        if (wasDisabled) giveBack(latest);
        return;
      }
      const beside = neighbourAt(trail);
      if (beside !== undefined) beside.focus({ preventScroll: true });
      else if (onPage?.control.isConnected === true) {
        latest = onPage;
        giveBack(onPage);
      } else if (onPage !== null) {
        const next = onPage.control.matches('h1') ? headingIn(main.current) : neighbourAt(onPage.trail);
        next?.focus({ preventScroll: true });
      }
    };

    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
    document.addEventListener('focusin', onFocusIn);
    document.addEventListener('pointerdown', onPointerDown);
    return () => {
      observer.disconnect();
      document.removeEventListener('focusin', onFocusIn);
      document.removeEventListener('pointerdown', onPointerDown);
    };
  }, [pathname, main]);
};
