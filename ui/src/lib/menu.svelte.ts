// The one menu that may be open, wherever its button is. One host for all rows keeps a row to a few plain elements.
import type { Component } from 'svelte';

export interface MenuItem {
  label: string;
  /** What of the label is a name or a value, and stands in the face of code. */
  code?: readonly string[];
  /** Small words at the right: a key, or why. */
  hint?: string;
  icon?: Component;
  tone?: 'refuse';
  disabled?: boolean;
  /** The one that Enter on the button itself would do. */
  strong?: boolean;
  /** It says yes to something: by key only with Ctrl held, as a key that was meant for something else says none. */
  yes?: boolean;
  testid?: string;
  run: () => void;
}

/** A thin line, or small words above a group. */
export type MenuEntry = MenuItem | 'line' | { heading: string };

/** Beside its button; or at the pointer, over what was pressed. */
export type MenuPlace = HTMLElement | { over: HTMLElement; x: number; y: number };

export interface OpenMenu {
  place: MenuPlace;
  label: string;
  entries: MenuEntry[];
}

export class Menus {
  open: OpenMenu | null = $state.raw(null);

  show(place: MenuPlace, label: string, entries: MenuEntry[]): void {
    this.open = { place, label, entries };
  }

  close(): void {
    this.open = null;
  }
}
