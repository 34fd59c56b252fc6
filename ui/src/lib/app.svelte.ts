// What all sections share: the host, the address, what needs a person, toasts, the one question and the one menu.
import { getContext, setContext } from 'svelte';
import {
  BackendError,
  type Backend,
  type Need,
  type Overview,
  type Question,
  type Target,
  type Theme,
} from './backend';
import { dismissible, readDismissed, writeDismissed } from './dismissed';
import { Look } from './look.svelte';
import { Menus } from './menu.svelte';
import { poll } from './poll';
import { Router } from './router.svelte';
import { Toasts } from './toasts.svelte';

/** What is asked here; the gate's own questions have a token besides. */
type Asking = Pick<Question, 'words' | 'loosened'> & Partial<Pick<Question, 'details'>>;

interface OpenQuestion extends Asking {
  /** The word on the button that loosens. */
  yes: string;
  answer: (yes: boolean) => void;
}

/** A cap of one's own, or a rule from an argument. */
export type RestrictionForm =
  | { kind: 'cap'; target: Target }
  | { kind: 'startsWith'; target: Target; path: string; value: string }
  | { kind: 'onlyInside'; target: Target; path: string; value: string };

const overviewEvery = 2_000;

/** As the host gave it to the page before its first picture: until the settings are read, nothing changes its colour. */
function firstTheme(): Theme {
  const given = document.documentElement.dataset.theme;
  return given === 'dark' || given === 'light' ? given : 'system';
}

export class App {
  readonly backend: Backend;
  readonly router = new Router();
  readonly toasts = new Toasts();
  readonly menus = new Menus();
  readonly look: Look;

  overview: Overview | null = $state.raw(null);
  #dismissed: readonly string[] = $state.raw(readDismissed());
  /** What needs a person, without what was dismissed. */
  readonly needs: Need[] = $derived(
    (this.overview?.needs ?? []).filter((need) => !dismissible(need) || !this.#dismissed.includes(need.words)),
  );
  /** Why there is no overview; cleared by the next one. */
  overviewError: BackendError | null = $state.raw(null);
  /** Of each server: where the newest change made here holds, for its row in the log. */
  enforced: Readonly<Record<string, { version: string; words: string }>> = $state.raw({});
  /** How often something was done or undone here: what depends on the rules is read again then. */
  acts = $state(0);
  asked: OpenQuestion | null = $state.raw(null);
  /** A small form over the window. */
  sheet: RestrictionForm | null = $state.raw(null);
  /** Whether everything is to be stopped is asked. */
  stopping = $state(false);
  /** "help" and "palette" are over everything else. */
  overlay: 'help' | 'palette' | null = $state(null);
  theme: Theme = $state(firstTheme());
  /** Now, to the second, for everything that counts up or down. */
  nowMs = $state(Date.now());

  #systemDark = $state(false);
  readonly dark = $derived(this.theme === 'dark' || (this.theme === 'system' && this.#systemDark));

  constructor(backend: Backend) {
    this.backend = backend;
    this.look = new Look(backend);
  }

  /** Read, and not to be said again. */
  dismiss(need: Need): void {
    this.#dismissed = [...this.#dismissed.filter((words) => words !== need.words), need.words];
    writeDismissed(this.#dismissed);
  }

  /** Starts clocks and listeners; the answer ends them. */
  start(): () => void {
    this.router.start();
    const stopLooking = this.look.start();
    const stopNavigation = this.backend.onNavigate((hash) => this.router.go(hash));
    const stopTime = this.keepTime();
    const stopOverview = poll(() => this.refresh(), overviewEvery);
    return () => {
      stopNavigation();
      stopLooking();
      stopTime();
      stopOverview();
    };
  }

  /** The clock and the colours: all that a window with one purpose needs. The answer ends it. */
  keepTime(): () => void {
    const media = matchMedia('(prefers-color-scheme: dark)');
    const follow = () => (this.#systemDark = media.matches);
    media.addEventListener('change', follow);
    follow();
    const stopClock = poll(async () => (this.nowMs = Date.now()), 1_000);
    void this.backend.settings().then(
      (view) => (this.theme = view.settings.theme),
      () => undefined,
    );
    return () => {
      media.removeEventListener('change', follow);
      stopClock();
    };
  }

  /** Reads the overview again: after each act, and every two seconds. */
  async refresh(): Promise<void> {
    try {
      this.overview = await this.backend.overview();
      this.overviewError = null;
    } catch (thrown) {
      this.overviewError = BackendError.from(thrown);
    }
  }

  /** Puts a question that loosens something; one at a time, a newer one answers the older one with no. */
  ask(question: Asking, yes = 'Allow'): Promise<boolean> {
    this.asked?.answer(false);
    return new Promise((resolve) => {
      this.asked = {
        words: question.words,
        details: question.details ?? [],
        loosened: question.loosened,
        yes,
        answer: (given) => {
          this.asked = null;
          resolve(given);
        },
      };
    });
  }

  /** Says what went wrong, unless it was only superseded. */
  fail(thrown: unknown): void {
    const error = BackendError.from(thrown);
    if (error.code !== 'cancelled') this.toasts.error(error.message, error.detail);
  }
}

const key = Symbol('app');
export const provideApp = (app: App): App => setContext(key, app);
export const useApp = (): App => getContext<App>(key);
