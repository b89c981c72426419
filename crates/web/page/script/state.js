'use strict';
// What the page knows. Everything that comes from the pond is text: it reaches the page through textContent, attributes and numbers only.

const $ = (id) => document.getElementById(id);
// For tests and for whoever wonders: what updates cost.
const stats = (window.__millpond = {
  updates: 0,
  lastUpdateMs: 0,
  longestUpdateMs: 0,
  updatesMs: [],
  firstPictureMs: null,
  cells: 0,
  reconnects: 0,
  link: 'connecting',
});
const MOST_ROWS = 20; // Of a table, until more are asked for.
const MOST_EVENTS = 500;
const SILENCE_MS = 30000; // The server says something every 15 seconds at least.
const HISTORY_SECONDS = 3600;
const REPLACED_SHOWN_MS = 30000;

const state = {
  overview: null,
  receivedAt: 0,
  link: 'connecting',
  pond: null,
  failure: null,
  events: [],
  whoami: { actions: false, sees: null, user: null },
  words: [],
  history: new Map(),
  onlyWrong: false,
  selected: null,
  replaced: -Infinity,
  replacedText: '',
  parseMs: 0,
};
