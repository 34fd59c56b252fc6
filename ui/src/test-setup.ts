// What jsdom lacks of the platform and our parts use. Tests of pure code run without it.
if (typeof window !== 'undefined') {
  HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
    this.setAttribute('open', '');
  };
  HTMLDialogElement.prototype.close ??= function (this: HTMLDialogElement) {
    this.removeAttribute('open');
    this.dispatchEvent(new Event('close'));
  };
  HTMLElement.prototype.showPopover ??= function (this: HTMLElement) {
    this.setAttribute('data-popover-open', '');
  };
  HTMLElement.prototype.hidePopover ??= function (this: HTMLElement) {
    this.removeAttribute('data-popover-open');
  };
  globalThis.ResizeObserver ??= class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  window.matchMedia ??= ((query: string) => ({
    matches: false,
    media: query,
    addEventListener() {},
    removeEventListener() {},
  })) as unknown as typeof window.matchMedia;
}
