import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

const asMarkup = 'Text of servers and agents is hostile: show it with <Text> or as a text node, never as markup.';

export default ts.config(
  { ignores: ['dist', 'node_modules', 'src/lib/backend/bindings.ts', 'e2e/out'] },
  js.configs.recommended,
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser } } },
  {
    files: ['*.js', '*.ts', 'e2e/**', 'bridge/**'],
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig } },
  },
  {
    rules: {
      'svelte/no-at-html-tags': 'error',
      'svelte/no-navigation-without-resolve': 'off',
      'no-restricted-properties': [
        'error',
        ...['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'setHTMLUnsafe', 'createContextualFragment', 'srcdoc'].map(
          (property) => ({ property, message: asMarkup }),
        ),
        { object: 'document', property: 'write', message: asMarkup },
      ],
      'no-eval': 'error',
      'no-new-func': 'error',
      'no-implied-eval': 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector: 'SvelteAttribute[key.name="style"]',
          message: 'The CSP refuses style attributes: use a class or style:property.',
        },
        {
          selector: "CallExpression[callee.property.name='setAttribute'][arguments.0.value='style']",
          message: 'The CSP refuses style attributes: use style.setProperty.',
        },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      // Maps and dates here are not what is watched.
      'svelte/prefer-svelte-reactivity': 'off',
    },
  },
  {
    // Only the backend knows its host.
    files: ['src/**'],
    ignores: ['src/lib/backend/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: ['@tauri-apps/*'], message: 'Use the Backend interface.' }] },
      ],
    },
  },
);
