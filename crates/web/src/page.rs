//! The page: one file, with its policy.

use axum::http::HeaderValue;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The page as it is sent: one document, with everything that it needs. The parts of its script are one script, in
/// this order.
pub const HTML: &str = concat!(
    include_str!("../page/head.html"),
    "<style>\n",
    include_str!("../page/style.css"),
    "</style>\n",
    include_str!("../page/body.html"),
    "<script>\n",
    include_str!("../page/script/state.js"),
    include_str!("../page/script/tools.js"),
    include_str!("../page/script/kinds.js"),
    include_str!("../page/script/layout.js"),
    include_str!("../page/script/map.js"),
    include_str!("../page/script/card.js"),
    include_str!("../page/script/history.js"),
    include_str!("../page/script/inspector.js"),
    include_str!("../page/script/table.js"),
    include_str!("../page/script/models.js"),
    include_str!("../page/script/tensors.js"),
    include_str!("../page/script/groups.js"),
    include_str!("../page/script/processes.js"),
    include_str!("../page/script/events.js"),
    include_str!("../page/script/answers.js"),
    include_str!("../page/script/picture.js"),
    include_str!("../page/script/connection.js"),
    include_str!("../page/script/actions.js"),
    include_str!("../page/script/keys.js"),
    "</script>\n</body>\n</html>\n",
);

/// What a browser may do with the page: run and apply what is in it, by its hash, and ask this server.
/// Nothing of a name that gets into it can be a script, a style or a request.
pub fn policy() -> Option<HeaderValue> {
    let (scripts, styles) = (hashes("script"), hashes("style"));
    let text = format!(
        "default-src 'none'; script-src {scripts}; style-src {styles}; connect-src 'self'; \
         img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&text).ok()
}

/// The hashes of all elements of a kind; `'none'` if there is none.
fn hashes(element: &str) -> String {
    let found: Vec<String> = contents(HTML, element)
        .map(|text| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes()))))
        .collect();
    if found.is_empty() { "'none'".to_owned() } else { found.join(" ") }
}

/// The texts of all elements of a kind. The page is ours: its tags are written in one way.
fn contents<'a>(html: &'a str, element: &str) -> impl Iterator<Item = &'a str> {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    let mut rest = html;
    std::iter::from_fn(move || {
        let (_, from) = rest.split_once(&open)?;
        let (text, after) = from.split_once(&close)?;
        rest = after;
        Some(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_has_its_hash() {
        assert_eq!(contents("<b>1</b>x<b>2</b>", "b").collect::<Vec<_>>(), ["1", "2"]);
        assert!(policy().is_some());
        for element in ["script", "style"] {
            let open = HTML.matches(&format!("<{element}")).count();
            assert_eq!(contents(HTML, element).count(), open, "each is written `<{element}>`");
        }
    }

    #[test]
    fn the_page_asks_nobody_else_for_anything() {
        for sign in ["http://", "https://", "src=\"//", " onclick=", "javascript:", " style=\""] {
            let namespaces = HTML.matches("http://www.w3.org/").count();
            let allowed = if sign == "http://" { namespaces } else { 0 };
            assert_eq!(HTML.matches(sign).count(), allowed, "{sign}");
        }
    }
}
