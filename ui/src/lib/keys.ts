// One rule for all single-key shortcuts: they count only while nobody types and nothing lies over the window.
export function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input, textarea, select, [role=textbox], [role=combobox]');
}

/** Is this a plain key that the window may take as a shortcut? */
export function isShortcut(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
  if (typing(event.target)) return false;
  return document.querySelector('dialog[open]') === null;
}

/** The keys that open the menu of what is chosen. */
export const isMenuKey = (event: KeyboardEvent): boolean =>
  event.key === '.' || event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey);
