import './styles/tokens.css';
import './styles/base.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { App as AppState } from './lib/app.svelte';
import { tauriBackend } from './lib/backend';

const target = document.getElementById('app');
if (target) mount(App, { target, props: { app: new AppState(tauriBackend()) } });
