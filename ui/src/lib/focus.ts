// Where the keyboard can go inside one element.

const reachable =
  'a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"]), [contenteditable="true"]';

/** What Tab stops at, in order. */
export function stops(inside: HTMLElement): HTMLElement[] {
  return [...inside.querySelectorAll<HTMLElement>(reachable)].filter(
    (one) => one.tabIndex >= 0 && !one.matches(':disabled') && one.checkVisibility?.() !== false,
  );
}

/** The other end, if Tab (backwards with Shift) would leave this element now; none if it would not. */
export function afterLast(inside: HTMLElement, backwards: boolean): HTMLElement | null {
  const all = stops(inside);
  const [first, last] = [all[0], all.at(-1)];
  const here = document.activeElement;
  if (!first || !last) return inside.contains(here) ? null : inside;
  if (here === null || !inside.contains(here)) return first;
  if (backwards) return here === first || here === inside ? last : null;
  return here === last ? first : null;
}
