// One rule for all single-key shortcuts: they count only while nobody types and nothing lies over the window.

/** Inputs that take no text. */
const pressed = ['button', 'checkbox', 'color', 'file', 'image', 'radio', 'range', 'reset', 'submit'];

export function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !pressed.includes(target.type);
  return target.isContentEditable || target.matches('textarea, [role=textbox], [role=combobox]');
}

/** A letter on a select looks for the choice that begins with it: it must not block a call besides. */
const seeks = (event: KeyboardEvent) =>
  event.target instanceof HTMLSelectElement && (/^\p{L}$/u.test(event.key) || event.key.length > 1);

/** Is this a plain key that the window may take as a shortcut? */
export function isShortcut(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
  if (typing(event.target) || seeks(event)) return false;
  return document.querySelector('dialog[open]') === null;
}

/** The keys that open the menu of what is chosen. */
export const isMenuKey = (event: KeyboardEvent): boolean =>
  event.key === '.' || event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey);
