// The raw policy in CodeMirror: colours, keys, and what our own checker says. It knows no backend: diagnostics and
// completions are asked of functions that are passed in, so that window and gate cannot disagree.

import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language';
import { forceLinting, linter, lintGutter, lintKeymap, type Diagnostic as Mark } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import {
  Decoration,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  MatchDecorator,
  ViewPlugin,
  type DecorationSet,
  type ViewUpdate,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Completion, Diagnostic } from '../backend/bindings';
import { lineEnds } from './lines';

export interface PolicyEditor {
  view: EditorView;
  setText(text: string): void;
  /** Ask for diagnostics now instead of when typing pauses. */
  check(): void;
  goTo(offset: number): void;
  destroy(): void;
}

export interface PolicyEditorOptions {
  parent: HTMLElement;
  text: string;
  label: string;
  readOnly?: boolean;
  onText(text: string): void;
  onSave(): void;
  check(text: string): Promise<Diagnostic[]>;
  complete(text: string, offset: number): Promise<Completion[]>;
}

/** Colours come from the window's tokens, so light and dark need no second theme. */
const look = EditorView.theme({
  '&': { height: '100%', fontSize: '12.5px', backgroundColor: 'var(--surface)', color: 'var(--ink)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--accent)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)' },
  '.cm-gutters': {
    backgroundColor: 'var(--surface)',
    color: 'var(--ink-3)',
    border: 'none',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent) 6%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 24%, transparent)',
  },
  '.cm-selectionMatch': { backgroundColor: 'color-mix(in srgb, var(--accent) 14%, transparent)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--accent-soft)',
    outline: '1px solid var(--line-strong)',
  },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--sunken)', border: '1px solid var(--line)', color: 'var(--ink-2)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: 'var(--round)',
    boxShadow: 'var(--shadow)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '14em' },
  '.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--chosen)', color: 'var(--ink)' },
  '.cm-completionDetail': { color: 'var(--ink-3)', fontStyle: 'normal', marginLeft: '1em' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '650' },
  '.cm-panels': { backgroundColor: 'var(--sunken)', color: 'var(--ink)', borderColor: 'var(--line)' },
  '.cm-panel.cm-search': { padding: '6px 8px', fontFamily: 'var(--font)' },
  '.cm-textfield': {
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--line)',
    borderRadius: 'var(--round-s)',
  },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--line)',
    borderRadius: 'var(--round-s)',
  },
  '.cm-searchMatch': { backgroundColor: 'var(--capped-soft)', outline: '1px solid var(--capped)' },
  // An error keeps the text from being saved; a warning does not. Told apart by colour and by shape.
  '.cm-diagnostic': {
    padding: '4px 10px',
    borderLeft: '3px solid var(--capped)',
    maxWidth: '60ch',
    whiteSpace: 'pre-wrap',
  },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--refused)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    backgroundColor: 'var(--refused-soft)',
    textDecoration: 'underline wavy var(--refused) 1.2px',
    textUnderlineOffset: '3px',
  },
  '.cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline dotted var(--capped) 1.4px',
    textUnderlineOffset: '3px',
  },
  '.cm-lint-marker': { width: '9px', height: '9px', content: '""', marginTop: '5px' },
  '.cm-lint-marker-error': { borderRadius: '2px', backgroundColor: 'var(--refused)' },
  '.cm-lint-marker-warning': { borderRadius: '50%', border: '2px solid var(--capped)' },
  '.cm-specialChar': { color: 'var(--capped)', fontWeight: '700' },
  // Also over what the grammar takes for numbers and words in it.
  '.cm-comment, .cm-comment *': { color: 'var(--ink-3)', fontStyle: 'italic', fontWeight: '400' },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--ink)' },
  { tag: tags.string, color: 'var(--accent)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--ok)' },
  { tag: [tags.separator, tags.squareBracket, tags.brace], color: 'var(--ink-3)' },
]);

/**
 * The JSON grammar knows no comments and takes them for errors, silently (no linter of its own is installed). They get
 * their colour from this: a line comment, or a block comment within one line, that is not inside a string.
 */
const commentPlaces = new MatchDecorator({
  regexp: /"(?:[^"\\]|\\.)*"|\/\/.*|\/\*.*?\*\//g,
  decorate: (add, from, to, match) => {
    if (!match[0].startsWith('"')) add(from, to, Decoration.mark({ class: 'cm-comment' }));
  },
});

const comments = ViewPlugin.fromClass(
  class {
    marks: DecorationSet;
    constructor(view: EditorView) {
      this.marks = commentPlaces.createDeco(view);
    }
    update(update: ViewUpdate) {
      this.marks = commentPlaces.updateDeco(update, this.marks);
    }
  },
  { decorations: (plugin) => plugin.marks },
);

/** Diagnostics as CodeMirror wants them: inside the text, never empty, in order. */
export function marksOf(diagnostics: readonly Diagnostic[], length: number): Mark[] {
  return diagnostics
    .map(({ from, to, severity, message }) => {
      const start = Math.min(Math.max(0, from), length);
      const end = Math.min(Math.max(start, to), length);
      // An empty place would not be seen.
      const shown =
        end > start
          ? { from: start, to: end }
          : { from: Math.max(0, Math.min(start, length - 1)), to: Math.min(start + 1, length) };
      return { ...shown, severity, message };
    })
    .sort((a, b) => a.from - b.from || a.to - b.to);
}

/** Completions as CodeMirror wants them; they may start at different places, the nearest of which is taken. */
export function completionOf(found: readonly Completion[], position: number): CompletionResult | null {
  const first = found[0];
  if (!first) return null;
  const from = Math.min(first.from, position);
  return {
    from,
    options: found
      .filter((one) => Math.min(one.from, position) === from)
      .map((one) => ({ label: one.label, apply: one.apply, ...(one.detail ? { detail: one.detail } : {}) })),
    // The label may lack the quotes that the text has: what fits was decided by the backend.
    filter: false,
  };
}

export function policyEditor(options: PolicyEditorOptions): PolicyEditor {
  let setting = false;
  let ends = lineEnds(options.text);
  const complete = async (context: CompletionContext): Promise<CompletionResult | null> => {
    const before = context.matchBefore(/["\w*.-]+/);
    if (!context.explicit && !before) return null;
    const text = context.state.doc.toString();
    const file = ends.toFile(text);
    const found = await options.complete(file, ends.fromEditor(context.pos, text));
    const placed = found.map((one) => ({ ...one, from: ends.toEditor(one.from, file) }));
    return context.aborted ? null : completionOf(placed, context.pos);
  };
  const lint = linter(
    async (view) => {
      const file = ends.toFile(view.state.doc.toString());
      const found = await options.check(file);
      const placed = found.map((one) => ({
        ...one,
        from: ends.toEditor(one.from, file),
        to: ends.toEditor(one.to, file),
      }));
      return marksOf(placed, view.state.doc.length);
    },
    { delay: 300 },
  );
  const editable: Extension = options.readOnly
    ? [EditorState.readOnly.of(true)]
    : [
        history(),
        closeBrackets(),
        indentOnInput(),
        autocompletion({ override: [complete], icons: false, activateOnTyping: true }),
        lint,
        lintGutter(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
      ];
  // The CSP allows no <style> element. CodeMirror makes one in a document, but adopts its styles in a shadow root; the
  // window's tokens are inherited into it.
  const root = options.parent.shadowRoot ?? options.parent.attachShadow({ mode: 'open' });
  root.replaceChildren();
  const keys = (event: KeyboardEvent) => {
    // Outside of the shadow root its target is the root's host: what is typed would be taken for the window's shortcuts.
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
  };
  options.parent.addEventListener('keydown', keys);
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(),
        foldGutter(),
        // Bidi controls and invisible characters are shown as marks.
        highlightSpecialChars({
          addSpecialChars: /[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu,
        }),
        drawSelection(),
        bracketMatching(),
        highlightSelectionMatches(),
        indentUnit.of('  '),
        EditorState.tabSize.of(2),
        json(),
        comments,
        syntaxHighlighting(colours),
        look,
        editable,
        EditorView.contentAttributes.of({ 'aria-label': options.label, spellcheck: 'false', tabindex: '0' }),
        keymap.of([
          { key: 'Mod-s', preventDefault: true, run: () => (options.onSave(), true) },
          { key: 'Tab', run: (target) => acceptCompletion(target) || indentMore(target), shift: indentLess },
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...lintKeymap,
          ...searchKeymap,
          ...foldKeymap,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !setting) options.onText(ends.toFile(update.state.doc.toString()));
        }),
      ],
    }),
  });
  return {
    view,
    setText(text) {
      if (text === ends.toFile(view.state.doc.toString())) return;
      ends = lineEnds(text);
      setting = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      setting = false;
    },
    check: () => forceLinting(view),
    goTo(offset) {
      const placed = ends.toEditor(offset, ends.toFile(view.state.doc.toString()));
      const anchor = Math.min(Math.max(0, placed), view.state.doc.length);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) });
      view.focus();
    },
    destroy() {
      options.parent.removeEventListener('keydown', keys);
      view.destroy();
    },
  };
}
