//! How help looks.

use clap::builder::styling::{AnsiColor, Style, Styles};

/// Headings and what can be typed stand out, nothing else.
pub const STYLES: Styles = Styles::styled()
    .header(Style::new().bold())
    .usage(Style::new().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default().dimmed());
