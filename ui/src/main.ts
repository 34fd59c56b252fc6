import './styles/tokens.css';
import './styles/base.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { App as AppState } from './lib/app.svelte';
import { tauriBackend } from './lib/backend';

const target = document.getElementById('app');
const props = { app: new AppState(tauriBackend()) };
if (target && new URLSearchParams(location.search).has('approvals'))
  void import('./ApprovalWindow.svelte').then(({ default: ApprovalWindow }) =>
    mount(ApprovalWindow, { target, props }),
  );
else if (target) mount(App, { target, props });
