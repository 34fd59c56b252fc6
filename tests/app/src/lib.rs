//! The harness of the app's end-to-end tests: a desktop of its own for each test (display, bus, tray host), the real app
//! on it, and a driver for what is in its window.
//!
//! Nothing is shared between two tests, so they run side by side. What is missing on a machine fails the test with words;
//! nothing is left out silently.

#![cfg(target_os = "linux")]

pub mod app;
pub mod banners;
pub mod desktop;
pub mod driver;
pub mod http;
pub mod notices;
pub mod screen_saver;
pub mod tray;
